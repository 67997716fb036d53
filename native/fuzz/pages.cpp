// The pages of an LMDB file: a small valid file with changes taken from the input. For any change,
// the check terminates and reads nothing outside the file.
#include <array>
#include <cstring>
#include <stdexcept>
#include <string_view>
#include <vector>

#include "harness.hpp"
#include "neardup/index_tables/page_check.hpp"

namespace neardup::fuzz {

namespace {

constexpr std::size_t kPage = 512, kPages = 9, kHead = 16;
constexpr std::uint64_t kNone = ~std::uint64_t{0};
using Bytes = std::vector<std::uint8_t>;

template <typename T>
void put(Bytes& file, std::size_t at, T value) {
    std::memcpy(file.data() + at, &value, sizeof value);
}

void put_head(Bytes& file, std::size_t page, std::uint16_t flags, std::uint16_t lower = 0,
              std::uint16_t upper = 0) {
    put<std::uint64_t>(file, page * kPage, page);
    put(file, page * kPage + 10, flags);
    put(file, page * kPage + 12, lower);
    put(file, page * kPage + 14, upper);
}

struct Node {
    std::uint64_t number;  // of a page below, or the size of the data
    std::uint16_t flags;
    std::string_view key;
    Bytes data;
};

// Nodes fill a page from its end.
void put_nodes(Bytes& file, std::size_t page, std::uint16_t kind, const std::vector<Node>& nodes) {
    std::size_t upper = kPage, lower = kHead;
    for (const Node& node : nodes) {
        upper -= (8 + node.key.size() + node.data.size() + 1) / 2 * 2;
        const std::size_t at = page * kPage + upper;
        put(file, page * kPage + lower, static_cast<std::uint16_t>(upper));
        lower += 2;
        put(file, at, static_cast<std::uint32_t>(node.number));
        put(file, at + 4, node.flags);
        put(file, at + 6, static_cast<std::uint16_t>(node.key.size()));
        std::copy(node.key.begin(), node.key.end(), file.begin() + static_cast<long>(at + 8));
        std::copy(node.data.begin(), node.data.end(),
                  file.begin() + static_cast<long>(at + 8 + node.key.size()));
    }
    put_head(file, page, kind, static_cast<std::uint16_t>(lower),
             static_cast<std::uint16_t>(upper));
}

void put_tree(Bytes& file, std::size_t at, std::uint32_t pad, std::uint16_t flags,
              std::uint16_t depth, const std::array<std::uint64_t, 5>& counts) {
    put(file, at, pad);
    put(file, at + 4, flags);
    put(file, at + 6, depth);
    for (std::size_t i = 0; i < counts.size(); ++i) put(file, at + 8 + 8 * i, counts[i]);
}

Bytes words(std::initializer_list<std::uint64_t> values) {
    Bytes bytes(8 * values.size());
    std::memcpy(bytes.data(), values.begin(), bytes.size());
    return bytes;
}

// Two pages in front, a branch (2) of two leaves (3, 4), a value of two pages (5, 6), the tree of
// free pages (7), and a free page (8).
Bytes sound_file() {
    Bytes file(kPage * kPages);
    for (std::size_t page = 0; page < 2; ++page) {
        const std::size_t meta = page * kPage + kHead;
        put_head(file, page, 8);
        put<std::uint32_t>(file, meta, 0xBEEFC0DE);
        put<std::uint32_t>(file, meta + 4, 1);
        put<std::uint64_t>(file, meta + 16, file.size());
        put_tree(file, meta + 24, kPage, 8, page == 0 ? 1 : 0,
                 {0, page == 0 ? 1U : 0U, 0, page == 0 ? 1U : 0U, page == 0 ? 7 : kNone});
        put_tree(file, meta + 72, 0, 0, 2, {1, 2, 2, 3, 2});
        put<std::uint64_t>(file, meta + 120, kPages - 1);
        put<std::uint64_t>(file, meta + 128, page == 0 ? 2 : 1);
    }
    put_nodes(file, 2, 1, {{3, 0, "", {}}, {4, 0, "m", {}}});
    put_nodes(file, 3, 2, {{3, 0, "a", {1, 2, 3}}, {0, 0, "bc", {}}});
    put_nodes(file, 4, 2, {{600, 1, "m", words({5})}});
    put_head(file, 5, 4);
    put<std::uint32_t>(file, 5 * kPage + 12, 2);
    put_nodes(file, 7, 2, {{16, 0, std::string_view("\1\0\0\0\0\0\0\0", 8), words({1, 8})}});
    return file;
}

bool accepted(const Bytes& file) {
    const auto memory = tight(file.data(), file.size());
    const PageFile pages{file.size(), [&](std::uint64_t at, std::size_t size, std::uint8_t* to) {
                             REQUIRE(at <= file.size() && size <= file.size() - at);
                             std::copy_n(memory.get() + at, size, to);
                             return true;
                         }};
    try {
        check_front_pages(pages);
        check_pages(pages);
    } catch (const std::invalid_argument&) {
        return false;
    }
    return true;
}

}  // namespace

void fuzz_pages(const std::uint8_t* data, std::size_t size) {
    static const Bytes sound = sound_file();
    static const bool is_sound = accepted(sound);
    REQUIRE(is_sound);
    Bytes file = sound;
    Tape tape(data, size);
    while (tape.size() != 0) {
        const std::size_t kind = tape.below(6);
        const std::size_t at = (tape.byte() | std::size_t{tape.byte()} << 8) % file.size();
        const std::size_t left = file.size() - at;
        if (kind == 0) file[at] = tape.byte();
        if (kind == 1 && left >= 2)
            put(file, at, static_cast<std::uint16_t>(tape.byte() | tape.byte() << 8));
        if (kind == 2 && left >= 8) put(file, at, tape.word());
        if (kind == 3) file.resize(std::max<std::size_t>(1, at));
        if (kind == 4) file.insert(file.end(), kPage, tape.byte());
        if (kind == 5) {  // one page over another
            const std::size_t from = at / kPage * kPage, to = tape.byte() % kPages * kPage;
            if (from + kPage <= file.size() && to + kPage <= file.size() && from != to)
                std::copy_n(file.begin() + static_cast<long>(from), kPage,
                            file.begin() + static_cast<long>(to));
        }
        if (file.size() > 64 * kPage) return;
    }
    accepted(file);
}

}  // namespace neardup::fuzz
