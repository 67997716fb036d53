#include <cstring>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "check.hpp"
#include "neardup/dispatch.hpp"
#include "neardup/terms/kernels.hpp"
#include "neardup/terms/term_table.hpp"
#include "neardup/terms/text_terms.hpp"

namespace neardup::tests {

namespace {

std::string hexadecimal(const std::uint64_t* limbs) {
    char text[33];
    std::snprintf(text, sizeof text, "%016llx%016llx", static_cast<unsigned long long>(limbs[0]),
                  static_cast<unsigned long long>(limbs[1]));
    return text;
}

std::vector<std::string> digests(const std::vector<std::string>& terms, const std::string& isa,
                                 std::size_t threads) {
    std::string data;
    std::vector<std::int64_t> begins, lengths;
    for (const std::string& term : terms) {
        begins.push_back(static_cast<std::int64_t>(data.size()));
        lengths.push_back(static_cast<std::int64_t>(term.size()));
        data += term;
    }
    // Memory of exactly this size, so that a sanitizer sees what is read outside.
    auto bytes = std::make_unique<std::uint8_t[]>(data.size());
    std::memcpy(bytes.get(), data.data(), data.size());
    std::vector<std::uint64_t> rows(2 * terms.size());
    md5_rows({bytes.get(), data.size(), begins.data(), lengths.data(), terms.size()}, 2,
             rows.data(), threads, term_kernels_for(isa));
    std::vector<std::string> found;
    for (std::size_t i = 0; i < terms.size(); ++i) found.push_back(hexadecimal(&rows[2 * i]));
    return found;
}

// The test suite of RFC 1321.
void test_md5_vectors() {
    const std::vector<std::string> terms = {
        "",
        "a",
        "abc",
        "message digest",
        "abcdefghijklmnopqrstuvwxyz",
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789",
        "12345678901234567890123456789012345678901234567890123456789012345678901234567890"};
    const std::vector<std::string> expected = {
        "d41d8cd98f00b204e9800998ecf8427e", "0cc175b9c0f1b6a831c399e269772661",
        "900150983cd24fb0d6963f7d28e17f72", "f96b697d7cb7938d525a2f31aaf161d0",
        "c3fcd3d76192e4007dfb496cca67e13b", "d174ab98d277d9f5a5611c2c9f419d9f",
        "57edf4a22be3c955ac49da2e2107b67a"};
    for (const std::string& isa : available_isas()) CHECK(digests(terms, isa, 1) == expected);
}

// A digest does not depend on the terms beside it, on threads or on the instruction set.
void test_md5_lanes() {
    Random random(7);
    std::vector<std::string> terms;
    for (std::size_t i = 0; i < 9000; ++i)
        terms.emplace_back(below(random, 200), static_cast<char>('a' + i % 26));
    const std::vector<std::string> together = digests(terms, "portable", 1);
    for (std::size_t i = 0; i < terms.size(); i += 501)
        CHECK_CASE(digests({terms[i]}, "portable", 1)[0] == together[i], i);
    for (const std::string& isa : available_isas()) CHECK(digests(terms, isa, 3) == together);
}

void test_term_table() {
    Random random(3);
    TermTable table;
    Arena arena;
    std::vector<std::string> known;
    for (int i = 0; i < 20000; ++i) {
        std::string term(below(random, 20), 'x');
        for (char& letter : term) letter = static_cast<char>('a' + below(random, 3));
        const std::size_t begin = arena.size();
        std::memset(arena.room(term.size()), 0, term.size() + 16);
        std::memcpy(arena.room(term.size()), term.data(), term.size());
        const std::uint8_t* bytes = arena.data() + begin;
        const std::uint64_t hash = TermTable::hash(bytes, term.size(), 0);
        const std::size_t place = table.find(arena.data(), hash, bytes, term.size(), 0);
        if (place == table.size()) {
            arena.take(term.size());
            table.add(hash, {begin, static_cast<std::uint32_t>(term.size()), 0});
            known.push_back(term);
        } else {
            CHECK_CASE(known[place] == term, i);
        }
    }
    CHECK(known.size() == std::set<std::string>(known.begin(), known.end()).size());
}

}  // namespace

void test_terms() {
    test_md5_vectors();
    test_md5_lanes();
    test_term_table();
}

}  // namespace neardup::tests
