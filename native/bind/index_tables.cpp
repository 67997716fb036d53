#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#if defined(__GLIBC__)
#include <malloc.h>
#endif

#include <algorithm>
#include <cstring>
#include <limits>
#include <optional>
#include <string>
#include <system_error>
#include <tuple>
#include <utility>
#include <vector>

#include "arrays.hpp"
#include "neardup/index_tables/id_set.hpp"
#include "neardup/index_tables/memory_tables.hpp"
#include "neardup/index_tables/page_check.hpp"
#include "neardup/index_tables/segment.hpp"
#include "neardup/open_file.hpp"

namespace neardup::bind {

using nb::literals::operator""_a;

namespace {

using RowArray = InputRows<std::uint64_t>;
using NumberArray = Input<std::uint64_t>;
using Bytes = Input<std::uint8_t>;
using MaybeLimit = std::optional<std::size_t>;
using Unlocked = nb::call_guard<nb::gil_scoped_release>;

constexpr std::size_t kMostBits = 4096;
constexpr std::size_t kMostMasks = 10'000;
constexpr std::uint64_t kMostNumber = ~std::uint64_t{0} >> 1;

// Rows of so many bits, those beyond them zero.
void check_rows(const std::uint64_t* rows, std::size_t count, std::size_t limbs, std::size_t bits) {
    if (limbs != (bits + 63) / 64) throw std::invalid_argument("the rows have other bits");
    if (bits % 64 == 0) return;
    const std::uint64_t beyond = ~std::uint64_t{0} >> bits % 64;
    for (std::size_t i = 0; i < count; ++i)
        if ((rows[i * limbs + limbs - 1] & beyond) != 0)
            throw std::invalid_argument("a row has bits beyond those of the fingerprints");
}

void check_plan(const RowArray& masks, std::size_t bits) {
    if (bits == 0 || bits > kMostBits || masks.shape(0) > kMostMasks)
        throw std::invalid_argument("a plan has up to 10000 masks of 1 to 4096 bits");
    check_rows(masks.data(), masks.shape(0), masks.shape(1), bits);
}

void check_documents(const NumberArray& numbers, const RowArray& rows, std::size_t bits) {
    check_rows(rows.data(), rows.shape(0), rows.shape(1), bits);
    if (numbers.size() != rows.shape(0)) throw std::invalid_argument("every row needs its number");
    if (numbers.size() > 0xFFFFFFFF) throw std::invalid_argument("too many documents at once");
    for (std::size_t i = 0; i < numbers.size(); ++i)
        if (numbers.data()[i] > kMostNumber) throw std::invalid_argument("a number is too large");
}

DeadNumbers dead_of(const NumberArray& dead) {
    if (!std::is_sorted(dead.data(), dead.data() + dead.size()))
        throw std::invalid_argument("dead numbers must be in ascending order");
    return {dead.data(), dead.size()};
}

Query query_of(const std::uint64_t* rows, std::size_t count, std::size_t limbs, std::uint32_t most,
               const MaybeLimit& limit) {
    return {rows, count, limbs, std::min<std::uint32_t>(most, kMostBits),
            limit.value_or(std::numeric_limits<std::size_t>::max())};
}

auto match_arrays(FoundMatches&& found) {
    const std::size_t queries = found.counts.size(), matches = found.numbers.size();
    std::vector<std::int64_t> offsets(queries + 1);
    for (std::size_t i = 0; i < queries; ++i)
        offsets[i + 1] = offsets[i] + static_cast<std::int64_t>(found.counts[i]);
    return std::tuple(array_of(std::move(offsets), queries + 1),
                      array_of(std::move(found.numbers), matches),
                      array_of(std::move(found.distances), matches));
}

// Sort without the GIL, then write directly into the returned bytes.
template <typename Make>
nb::bytes written(const Make& make) {
    std::optional<SegmentWriter> writer;
    {
        nb::gil_scoped_release release;
        writer.emplace(make());
    }
    PyObject* bytes = PyBytes_FromStringAndSize(nullptr, static_cast<Py_ssize_t>(writer->bytes()));
    if (bytes == nullptr) throw nb::python_error();
    auto owned = nb::steal<nb::bytes>(bytes);
    auto* memory = reinterpret_cast<std::uint8_t*>(PyBytes_AsString(bytes));
    nb::gil_scoped_release release;
    writer->write(memory);
    return owned;
}

nb::bytes merge(const std::vector<Bytes>& buffers, const NumberArray& dead_numbers) {
    const DeadNumbers dead = dead_of(dead_numbers);
    NumberedRows all;
    std::vector<Segment> segments;
    return written([&] {
        if (buffers.empty()) throw std::invalid_argument("there is no segment to merge");
        segments.reserve(buffers.size());
        std::size_t documents = 0;
        for (const Bytes& buffer : buffers) {
            const Segment& one = segments.emplace_back(buffer.data(), buffer.size());
            const Segment& first = segments.front();
            if (one.bits() != first.bits() || one.mask_count() != first.mask_count() ||
                !std::equal(one.mask_rows(), one.mask_rows() + one.mask_count() * one.limbs(),
                            first.mask_rows()))
                throw std::invalid_argument("segments of different plans cannot be merged");
            documents += one.documents();
        }
        const Segment& first = segments.front();
        all.numbers.reserve(documents);
        all.rows.reserve(documents * first.limbs());
        for (const Segment& one : segments) one.append_rows(dead, all);
        if (all.numbers.size() > 0xFFFFFFFF)
            throw std::invalid_argument("too many documents for one segment");
        return SegmentWriter(all.numbers.data(), all.rows.data(), all.numbers.size(),
                             first.mask_rows(), first.mask_count(), first.bits());
    });
}

void register_tables(nb::module_& m) {
    nb::class_<MemoryTables>(m, "MemoryTables")
        .def(
            "__init__",
            [](MemoryTables* self, const RowArray& masks, std::size_t bits,
               const std::string& isa) {
                check_plan(masks, bits);
                new (self) MemoryTables(masks.data(), masks.shape(0), masks.shape(1), bits,
                                        table_kernels_for(isa));
            },
            "masks"_a, "bits"_a, "isa"_a)
        .def("__len__", &MemoryTables::size, Unlocked())
        .def_prop_ro("distinct", &MemoryTables::distinct, Unlocked())
        .def_prop_ro("nbytes", &MemoryTables::bytes, Unlocked())
        .def("largest_buckets", &MemoryTables::largest_buckets, "count"_a, Unlocked())
        .def(
            "add",
            [](MemoryTables& self, const NumberArray& numbers, const RowArray& rows) {
                check_documents(numbers, rows, self.bits());
                std::vector<std::uint32_t> places(numbers.size());
                {
                    nb::gil_scoped_release release;
                    self.add(numbers.data(), rows.data(), numbers.size(), places.data());
                }
                return array_of(std::move(places), numbers.size());
            },
            "numbers"_a, "rows"_a)
        .def(
            "rows_at",
            [](const MemoryTables& self, const Input<std::uint32_t>& places) {
                std::vector<std::uint64_t> rows(places.size() * self.limbs());
                {
                    nb::gil_scoped_release release;
                    self.rows_at(places.data(), places.size(), rows.data());
                }
                return array_of(std::move(rows), places.size(), self.limbs());
            },
            "places"_a)
        .def(
            "remove",
            [](MemoryTables& self, const NumberArray& numbers, const RowArray& rows) {
                check_documents(numbers, rows, self.bits());
                nb::gil_scoped_release release;
                self.remove(numbers.data(), rows.data(), numbers.size());
            },
            "numbers"_a, "rows"_a)
        .def(
            "query",
            [](const MemoryTables& self, const RowArray& rows, std::uint32_t most,
               const MaybeLimit& limit, std::size_t threads) {
                check_rows(rows.data(), rows.shape(0), rows.shape(1), self.bits());
                FoundMatches found;
                {
                    nb::gil_scoped_release release;
                    found = self.query(
                        query_of(rows.data(), rows.shape(0), rows.shape(1), most, limit), threads);
                }
                return match_arrays(std::move(found));
            },
            "rows"_a, "max_distance"_a, "limit"_a.none(), "threads"_a)
        .def(
            "query_one",
            [](const MemoryTables& self, const nb::bytes& bytes, std::uint32_t most,
               const MaybeLimit& limit) {
                std::uint64_t row[kMostBits / 64];
                const std::size_t limbs = bytes.size() / sizeof *row;
                if (bytes.size() > sizeof row || bytes.size() % sizeof *row != 0)
                    throw std::invalid_argument("the row has other bits");
                std::memcpy(row, bytes.data(), bytes.size());
                check_rows(row, 1, limbs, self.bits());
                FoundMatches found;
                {
                    nb::gil_scoped_release release;
                    found = self.query(query_of(row, 1, limbs, most, limit), 1);
                }
                std::vector<std::pair<std::uint64_t, std::uint16_t>> pairs;
                for (std::size_t i = 0; i < found.numbers.size(); ++i)
                    pairs.emplace_back(found.numbers[i], found.distances[i]);
                return pairs;
            },
            "row"_a, "max_distance"_a, "limit"_a.none());
}

// Return freed memory to the system, as far as the allocator can.
void release_memory() {
#if defined(__GLIBC__)
    malloc_trim(0);
#endif
}

void register_segments(nb::module_& m) {
    m.def(
        "pack_segment",
        [](const NumberArray& numbers, const RowArray& rows, const RowArray& masks,
           std::size_t bits) {
            check_plan(masks, bits);
            check_documents(numbers, rows, bits);
            return written([&] {
                return SegmentWriter(numbers.data(), rows.data(), numbers.size(), masks.data(),
                                     masks.shape(0), bits);
            });
        },
        "numbers"_a, "rows"_a, "masks"_a, "bits"_a);
    m.def("merge_segments", &merge, "buffers"_a, "dead"_a);
    m.def(
        "query_segment",
        [](const Bytes& buffer, const RowArray& rows, std::uint32_t most, const MaybeLimit& limit,
           std::size_t threads, const NumberArray& dead_numbers, const std::string& isa) {
            const DeadNumbers dead = dead_of(dead_numbers);
            const TableKernels& kernels = table_kernels_for(isa);
            FoundMatches found;
            {
                nb::gil_scoped_release release;
                const Segment segment(buffer.data(), buffer.size());
                check_rows(rows.data(), rows.shape(0), rows.shape(1), segment.bits());
                found =
                    segment.query(query_of(rows.data(), rows.shape(0), rows.shape(1), most, limit),
                                  dead, threads, kernels);
            }
            return match_arrays(std::move(found));
        },
        "buffer"_a, "rows"_a, "max_distance"_a, "limit"_a.none(), "threads"_a, "dead"_a, "isa"_a);
    m.def(
        "segment_rows",
        [](const Bytes& buffer) {
            NumberedRows all;
            std::size_t limbs;
            {
                nb::gil_scoped_release release;
                const Segment segment(buffer.data(), buffer.size());
                limbs = segment.limbs();
                all.numbers.reserve(segment.documents());
                all.rows.reserve(segment.documents() * limbs);
                segment.append_rows({nullptr, 0}, all);
            }
            const std::size_t count = all.numbers.size();
            return std::tuple(array_of(std::move(all.numbers), count),
                              array_of(std::move(all.rows), count, limbs));
        },
        "buffer"_a);
    m.def(
        "check_segment",
        [](const Bytes& buffer) {
            nb::gil_scoped_release release;
            Segment(buffer.data(), buffer.size()).check();
        },
        "buffer"_a);
}

void register_id_set(nb::module_& m) {
    nb::class_<IdSet>(m, "IdSet")
        .def(nb::init<>())
        .def("__len__", &IdSet::size)
        .def(
            "add",
            [](IdSet& self, const Input<std::uint8_t>& data, const Input<std::int64_t>& offsets,
               const Input<std::int64_t>& places)
                -> std::optional<std::pair<std::size_t, std::int64_t>> {
                const Column column = column_of(data, offsets);
                if (places.size() != column.count)
                    throw std::invalid_argument("every id needs its place");
                const auto repeat = self.add(column, places.data());
                if (!repeat) return std::nullopt;
                return std::pair(repeat->position, repeat->place);
            },
            "data"_a, "offsets"_a, "places"_a);
}

bool read_all(int file, std::uint64_t at, std::size_t size, std::uint8_t* to) {
    while (size != 0) {
        const std::size_t got = read_some(file, at, size, to);
        if (got == 0) return false;
        at += got;
        to += got;
        size -= got;
    }
    return true;
}

void register_pages(nb::module_& m) {
    m.def(
        "check_pages",
        [](int file, bool all) {
            nb::gil_scoped_release release;
            try {
                const PageFile pages{file_size(file),
                                     [file](std::uint64_t at, std::size_t size, std::uint8_t* to) {
                                         return read_all(file, at, size, to);
                                     }};
                all ? check_pages(pages) : check_front_pages(pages);
            } catch (const std::system_error&) {
                throw std::invalid_argument("it cannot be read");
            }
        },
        "file"_a, "all"_a);
}

}  // namespace

void register_index_tables(nb::module_& m) {
    register_id_set(m);
    register_tables(m);
    m.def("release_memory", &release_memory, Unlocked());
    register_segments(m);
    register_pages(m);
}

}  // namespace neardup::bind
