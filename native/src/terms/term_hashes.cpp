#include "neardup/terms/term_hashes.hpp"

#include <algorithm>
#include <cstring>
#include <type_traits>
#include <vector>

#include "neardup/parallel.hpp"
#include "neardup/text/keyed.hpp"
#include "neardup/text/nd1.hpp"

namespace neardup {

namespace {

constexpr std::size_t kTermsAtOnce = 1 << 12;

template <typename Hash>
class TermHasher {
  public:
    explicit TermHasher(const Hash& hash) : hash_(hash) {}

    std::uint64_t run(const TermList& terms, std::size_t place, TermUnits units) {
        const std::uint8_t* term = terms.data + terms.begins[place];
        const auto length = static_cast<std::size_t>(terms.lengths[place]);
        if (static_cast<std::size_t>(terms.begins[place]) + length + portable::kReadAhead >
            terms.size) {
            padded_.assign(length + portable::kReadAhead, 0);
            std::copy_n(term, length, padded_.data());
            term = padded_.data();
        }
        values_.clear();
        if (units == TermUnits::one) {
            values_.push_back(length == 0 && kPlain ? 0 : hash_.unit(term, length));
        } else {
            for (std::size_t at = 0; at < length;) at = add_unit(term, at, length, units);
        }
        return hash_.whole(values_.data(), values_.size());
    }

  private:
    // nd1 hashes units block by block; one without bytes has no block.
    static constexpr bool kPlain = std::is_same_v<Hash, portable::PlainHash>;

    // The place behind the unit at `at`, and the space behind that.
    std::size_t add_unit(const std::uint8_t* term, std::size_t at, std::size_t length,
                         TermUnits units) {
        std::size_t end = at + 1;
        if (units == TermUnits::words) {
            const void* space = std::memchr(term + at, ' ', length - at);
            end = space == nullptr
                      ? length
                      : static_cast<std::size_t>(static_cast<const std::uint8_t*>(space) - term);
        } else {
            while (end < length && (term[end] & 0xC0) == 0x80) ++end;
        }
        values_.push_back(hash_.unit(term + at, end - at));
        return units == TermUnits::words ? end + 1 : end;
    }

    Hash hash_;
    std::vector<std::uint64_t> values_;
    std::vector<std::uint8_t> padded_;
};

template <typename Hash>
void hash_all(const TermList& terms, const TermUnits* units, std::size_t limbs, std::uint64_t* rows,
              std::size_t threads, const Hash& hash) {
    const std::size_t tasks = (terms.count + kTermsAtOnce - 1) / kTermsAtOnce;
    parallel_tasks(tasks, threads, [&](const auto& next) {
        TermHasher<Hash> hasher(hash);
        for (std::size_t task = next(); task != tasks; task = next()) {
            const std::size_t last = std::min(terms.count, (task + 1) * kTermsAtOnce);
            for (std::size_t i = task * kTermsAtOnce; i < last; ++i) {
                std::uint64_t* row = rows + i * limbs;
                row[0] = hasher.run(terms, i, units == nullptr ? TermUnits::one : units[i]);
                for (std::size_t limb = 1; limb < limbs; ++limb)
                    row[limb] = hash.widened(row[0], limb);
            }
        }
    });
}

}  // namespace

void term_hashes(const TermList& terms, const TermUnits* units, const HashKey* key,
                 std::size_t limbs, std::uint64_t* rows, std::size_t threads) {
    if (key == nullptr) {
        hash_all(terms, units, limbs, rows, threads, portable::PlainHash{});
    } else {
        hash_all(terms, units, limbs, rows, threads, portable::KeyedHash(*key));
    }
}

void md5_rows(const TermList& terms, std::size_t limbs, std::uint64_t* rows, std::size_t threads,
              const TermKernels& kernels) {
    const std::size_t tasks = (terms.count + kTermsAtOnce - 1) / kTermsAtOnce;
    parallel_tasks(tasks, threads, [&](const auto& next) {
        for (std::size_t task = next(); task != tasks; task = next())
            kernels.md5(terms, task * kTermsAtOnce,
                        std::min(terms.count, (task + 1) * kTermsAtOnce), limbs, rows);
    });
}

}  // namespace neardup
