#include "neardup/hamming_join/join.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <cstdlib>
#include <optional>
#include <string>
#include <tuple>
#include <utility>

#include "arrays.hpp"
#include "neardup/hamming_join/star.hpp"

namespace neardup::bind {

using nb::literals::operator""_a;

namespace {

using RowArray = InputRows<std::uint64_t>;
using Places = Input<std::int64_t>;

constexpr std::size_t kMostLimbs = 64;
constexpr std::size_t kMostRows = 0xFFFFFFFF;

// View rows from Python. Checks them, so that no kernel can read outside them.
Sides sides_of(const RowArray& left, const std::optional<RowArray>& right) {
    const std::size_t limbs = left.shape(1);
    if (limbs == 0 || limbs > kMostLimbs) throw std::invalid_argument("rows have 1 to 64 words");
    if (right && right->shape(1) != limbs) throw std::invalid_argument("both sides need one width");
    const Sides sides{
        left.data(), left.shape(0),    right ? right->data() : nullptr, right ? right->shape(0) : 0,
        limbs,       right.has_value()};
    if (sides.count() > kMostRows) throw std::invalid_argument("too many rows for one join");
    return sides;
}

std::uint32_t distance_limit(const std::optional<std::uint32_t>& distance) {
    return distance && *distance < kAnyDistance ? *distance : kAnyDistance;
}

std::vector<Block> blocks_of(const std::optional<InputRows<std::int64_t>>& cuts, std::size_t bits,
                             std::size_t distance) {
    std::vector<Block> blocks;
    if (!cuts) return blocks;
    if (cuts->shape(0) != distance + 1 || cuts->shape(1) != 2)
        throw std::invalid_argument("one more block than the distance is needed, two ends each");
    std::vector<bool> inside(bits);
    for (std::size_t i = 0; i < cuts->shape(0); ++i) {
        const std::int64_t start = cuts->data()[2 * i], stop = cuts->data()[2 * i + 1];
        if (start < 0 || start >= stop || stop > static_cast<std::int64_t>(bits))
            throw std::invalid_argument("a block is empty or outside the bits");
        blocks.push_back({static_cast<std::size_t>(start), static_cast<std::size_t>(stop)});
        for (std::size_t bit = blocks[i].start; bit < blocks[i].stop; ++bit) {
            if (inside[bit]) throw std::invalid_argument("blocks overlap");
            inside[bit] = true;
        }
    }
    return blocks;
}

auto pair_arrays(const std::vector<FoundPair>& pairs) {
    Values<std::int64_t> a(pairs.size()), b(pairs.size());
    Values<std::uint16_t> distance(pairs.size());
    for (std::size_t i = 0; i < pairs.size(); ++i) {
        a.data[i] = pairs[i].a();
        b.data[i] = pairs[i].b();
        distance.data[i] = static_cast<std::uint16_t>(pairs[i].distance);
    }
    return std::tuple(a.array(), b.array(), distance.array());
}

// Run `work` without the GIL, then return its pairs as arrays.
template <typename Work>
auto found_by(const Work& work) {
    std::vector<FoundPair> pairs;
    {
        nb::gil_scoped_release release;
        pairs = work();
    }
    return pair_arrays(pairs);
}

// The groups of equal rows; none where no two rows are equal.
auto group(const RowArray& rows, std::size_t threads) {
    const Sides sides = sides_of(rows, std::nullopt);
    std::optional<Values<std::int64_t>> group_of, firsts;
    {
        nb::gil_scoped_release release;
        const std::vector<std::uint32_t> first = first_equals(sides, threads);
        if (!first.empty()) {
            std::size_t groups = 0;
            for (std::size_t i = 0; i < first.size(); ++i) groups += first[i] == i ? 1 : 0;
            group_of.emplace(first.size());
            firsts.emplace(groups);
            groups = 0;
            for (std::size_t i = 0; i < first.size(); ++i) {
                if (first[i] == i) {
                    firsts->data[groups] = static_cast<std::int64_t>(i);
                    group_of->data[i] = static_cast<std::int64_t>(groups++);
                } else {
                    group_of->data[i] = group_of->data[first[i]];
                }
            }
        }
    }
    using Groups = decltype(std::tuple(firsts->array(), group_of->array()));
    return firsts ? std::optional<Groups>({firsts->array(), group_of->array()}) : std::nullopt;
}

Members members_of(const Places& group_of, std::size_t groups) {
    if (group_of.size() > kMostRows) throw std::invalid_argument("too many rows in groups");
    for (std::size_t i = 0; i < group_of.size(); ++i)
        if (group_of.data()[i] < 0 || static_cast<std::size_t>(group_of.data()[i]) >= groups)
            throw std::invalid_argument("a row is in a group that is not there");
    return {group_of.data(), group_of.size(), groups};
}

std::vector<FoundPair> checked_pairs(const Places& a, const Places& b,
                                     const Input<std::uint16_t>& distance, std::size_t groups,
                                     std::size_t other_groups) {
    if (a.size() != b.size() || a.size() != distance.size())
        throw std::invalid_argument("every pair needs two groups and a distance");
    std::vector<FoundPair> pairs;
    for (std::size_t i = 0; i < a.size(); ++i) {
        const auto x = static_cast<std::size_t>(a.data()[i]),
                   y = static_cast<std::size_t>(b.data()[i]);
        if (x >= groups || y >= other_groups) throw std::invalid_argument("a pair names no group");
        pairs.emplace_back(x, y, distance.data()[i]);
    }
    return pairs;
}

auto join_blocks(const RowArray& left, const std::optional<RowArray>& right, std::size_t bits,
                 std::uint32_t distance, const std::optional<InputRows<std::int64_t>>& blocks,
                 const std::tuple<double, double, double>& costs, std::uint64_t most_pairs,
                 std::size_t threads, const std::string& isa) {
    const Sides sides = sides_of(left, right);
    if (bits == 0 || bits > 64 * sides.limbs)
        throw std::invalid_argument("the rows have other bits");
    const std::vector<Block> cuts = blocks_of(blocks, bits, distance);
    const HammingKernels& kernels = hamming_kernels_for(isa);
    const auto [compare, move, bucket] = costs;
    const HammingCosts weighed{compare, move, bucket};
    return found_by([&] {
        return join_within(sides, bits, distance, cuts, weighed, threads, kernels, most_pairs);
    });
}

void check_star_masks(const RowArray& masks, std::size_t bits) {
    const std::size_t limbs = masks.shape(1);
    if (limbs == 0 || limbs > kMostLimbs || limbs != (bits + 63) / 64)
        throw std::invalid_argument("the masks have other bits");
    const std::uint64_t beyond = bits % 64 == 0 ? 0 : ~std::uint64_t{0} >> bits % 64;
    for (std::size_t i = 0; i < masks.shape(0); ++i)
        if ((masks.data()[(i + 1) * limbs - 1] & beyond) != 0)
            throw std::invalid_argument("a mask has bits beyond those of the rows");
}

void require_width(const RowArray& rows, const StarSearch& stars) {
    if (rows.shape(1) != stars.limbs())
        throw std::invalid_argument("the rows are of another width than the masks");
}

void register_stars(nb::module_& m) {
    nb::class_<StarSearch>(m, "HammingStars")
        .def(
            "__init__",
            [](StarSearch* self, const RowArray& masks, std::size_t bits, std::uint32_t distance,
               const std::string& isa) {
                check_star_masks(masks, bits);
                if (distance > 64 * kMostLimbs)
                    throw std::invalid_argument("the distance is larger than any row");
                new (self) StarSearch({masks.data(), masks.shape(0)}, masks.shape(1), bits,
                                      distance, hamming_kernels_for(isa), table_kernels_for(isa));
            },
            "masks"_a, nb::kw_only(), "bits"_a, "distance"_a, "isa"_a)
        .def(
            "keep",
            [](StarSearch& self, const RowArray& rows, std::int64_t document, std::size_t threads) {
                require_width(rows, self);
                nb::gil_scoped_release release;
                self.keep(rows.data(), rows.shape(0), document, threads);
            },
            "rows"_a, "document"_a, nb::kw_only(), "threads"_a)
        .def(
            "visit",
            [](StarSearch& self, const RowArray& rows, const Places& documents, bool keeps,
               std::size_t threads) {
                require_width(rows, self);
                if (documents.size() != rows.shape(0))
                    throw std::invalid_argument("every row needs its document");
                Values<std::int64_t> kept_for(documents.size());
                Values<std::uint16_t> distance(documents.size());
                {
                    nb::gil_scoped_release release;
                    self.visit(rows.data(), documents.data(), documents.size(), keeps, threads,
                               kept_for.data, distance.data);
                }
                return std::tuple(kept_for.array(), distance.array());
            },
            "rows"_a, "documents"_a, nb::kw_only(), "keeps"_a, "threads"_a);
}

}  // namespace

void register_hamming_join(nb::module_& m) {
    using MaybeRows = std::optional<RowArray>;
    using MaybeDistance = std::optional<std::uint32_t>;
    using Costs = std::tuple<double, double, double>;

    nb::exception<TooManyPairs>(m, "TooManyPairsError");
    m.def("group_rows", &group, "rows"_a, nb::kw_only(), "threads"_a);
    m.def("join_within", &join_blocks, "left"_a, "right"_a.none(), nb::kw_only(), "bits"_a,
          "distance"_a, "blocks"_a.none(), "costs"_a, "most_pairs"_a, "threads"_a, "isa"_a);
    m.def(
        "join_masks",
        [](const RowArray& left, const MaybeRows& right, const RowArray& masks, MaybeDistance most,
           bool keep, const Costs& costs, std::uint64_t most_pairs, std::size_t threads,
           const std::string& isa) {
            const Sides sides = sides_of(left, right);
            if (masks.shape(1) != sides.limbs)
                throw std::invalid_argument("masks are of another width");
            const HammingKernels& kernels = hamming_kernels_for(isa);
            const auto [compare, move, bucket] = costs;
            MaskJoin found;
            {
                nb::gil_scoped_release release;
                found = join_masks(sides, {masks.data(), masks.shape(0)}, distance_limit(most),
                                   keep, {compare, move, bucket}, threads, kernels, most_pairs);
            }
            return std::tuple(pair_arrays(found.pairs), found.count);
        },
        "left"_a, "right"_a.none(), nb::kw_only(), "masks"_a, "max_distance"_a.none(), "keep"_a,
        "costs"_a, "most_pairs"_a, "threads"_a, "isa"_a);
    m.def(
        "join_all",
        [](const RowArray& left, const MaybeRows& right, MaybeDistance most,
           std::uint64_t most_pairs, std::size_t threads, const std::string& isa) {
            const Sides sides = sides_of(left, right);
            const HammingKernels& kernels = hamming_kernels_for(isa);
            return found_by([&] {
                return scan_pairs(sides, nullptr, distance_limit(most), threads, kernels,
                                  most_pairs);
            });
        },
        "left"_a, "right"_a.none(), nb::kw_only(), "max_distance"_a.none(), "most_pairs"_a,
        "threads"_a, "isa"_a);
    m.def(
        "join_windows",
        [](const RowArray& rows, const Places& stops, MaybeDistance most, std::uint64_t most_pairs,
           std::size_t threads, const std::string& isa) {
            const Sides sides = sides_of(rows, std::nullopt);
            if (stops.size() != sides.count())
                throw std::invalid_argument("every row needs its stop");
            for (std::size_t i = 0; i < stops.size(); ++i) {
                const std::int64_t stop = stops.data()[i];
                if (stop <= static_cast<std::int64_t>(i) ||
                    stop > static_cast<std::int64_t>(sides.count()) ||
                    (i > 0 && stop < stops.data()[i - 1]))
                    throw std::invalid_argument("a window ends where it cannot");
            }
            const HammingKernels& kernels = hamming_kernels_for(isa);
            return found_by([&] {
                return scan_pairs(sides, stops.data(), distance_limit(most), threads, kernels,
                                  most_pairs);
            });
        },
        "rows"_a, "stops"_a, nb::kw_only(), "max_distance"_a.none(), "most_pairs"_a, "threads"_a,
        "isa"_a);
    m.def(
        "expand_pairs",
        [](const Places& a, const Places& b, const Input<std::uint16_t>& distance,
           const Places& group_of, std::size_t groups, const std::optional<Places>& right_group_of,
           std::size_t right_groups) {
            const Members left = members_of(group_of, groups);
            std::optional<Members> right;
            if (right_group_of) right = members_of(*right_group_of, right_groups);
            const auto pairs = checked_pairs(a, b, distance, groups, right ? right_groups : groups);
            return found_by([&] { return expand_pairs(pairs, left, right ? &*right : nullptr); });
        },
        "a"_a, "b"_a, "distance"_a, "group_of"_a, "groups"_a, "right_group_of"_a.none(),
        "right_groups"_a);
    register_stars(m);
}

}  // namespace neardup::bind
