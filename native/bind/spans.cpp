#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>

#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "arrays.hpp"
#include "neardup/spans/shared_runs.hpp"
#include "neardup/text/kernels.hpp"

namespace neardup::bind {

using nb::literals::operator""_a;

namespace {

auto shared_runs_of(const Input<std::uint64_t>& first, const Input<std::uint64_t>& second,
                    std::uint32_t least) {
    std::vector<SharedRun> runs;
    std::vector<std::int64_t> a, b, length;
    {
        nb::gil_scoped_release release;
        runs = shared_runs({first.data(), first.size()}, {second.data(), second.size()}, least);
        for (const SharedRun& run : runs) {
            a.push_back(run.a);
            b.push_back(run.b);
            length.push_back(run.length);
        }
    }
    return std::tuple(array_of(std::move(a)), array_of(std::move(b)), array_of(std::move(length)));
}

auto word_hashes_of(const Input<std::uint8_t>& text, const std::string& isa) {
    const TextKernels& kernels = text_kernels_for(isa);
    std::vector<std::uint64_t> hashes;
    {
        nb::gil_scoped_release release;
        kernels.word_hashes(text.data(), text.size(), hashes);
    }
    return array_of(std::move(hashes));
}

}  // namespace

void register_spans(nb::module_& m) {
    m.def("shared_runs", &shared_runs_of, "first"_a, "second"_a, nb::kw_only(), "least"_a);
    m.def("word_hashes", &word_hashes_of, "text"_a, nb::kw_only(), "isa"_a);
}

}  // namespace neardup::bind
