#include "neardup/dispatch.hpp"

#include <algorithm>
#include <stdexcept>

#include "neardup/parallel.hpp"

namespace neardup {

namespace {

constexpr std::int64_t kTaskBytes = 256 << 10;
constexpr std::int64_t kTaskTerms = 16 << 10;

struct Isa {
    const char* name;
    const Kernels* kernels;
    bool runs_here;
};

std::vector<Isa> known_isas() {
    std::vector<Isa> isas = {{"portable", &portable::kernels, true}};
#if defined(NEARDUP_X86)
    isas.push_back({"sse2", &sse2::kernels, true});
    __builtin_cpu_init();
    const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") &&
                      __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("popcnt");
    isas.push_back({"avx2", &avx2::kernels, avx2});
#endif
    return isas;
}

// Share documents out to threads in tasks of about `task_size` bytes or terms, as `offsets` count
// them. Task t holds the documents that begin in the t-th stretch, and the last one all that begin
// at the very end (they are empty).
template <typename Work>
void share_ranges(const std::int64_t* offsets, std::size_t count, std::int64_t task_size,
                  std::size_t threads, const Work& work) {
    if (count == 0) return;
    const std::int64_t begin = offsets[0];
    const auto tasks = static_cast<std::size_t>((offsets[count] - begin) / task_size + 1);
    const auto first_from = [&](std::size_t task) -> std::size_t {
        if (task >= tasks) return count;
        const std::int64_t least = begin + static_cast<std::int64_t>(task) * task_size;
        return static_cast<std::size_t>(std::lower_bound(offsets, offsets + count, least) - offsets);
    };
    parallel_tasks(tasks, threads, [&](const auto& next_task) {
        work([&]() -> Range {
            for (std::size_t task = next_task(); task < tasks; task = next_task()) {
                const Range range{first_from(task), first_from(task + 1)};
                if (range.first != range.last) return range;
            }
            return {0, 0};
        });
    });
}

}  // namespace

std::vector<std::string> available_isas() {
    std::vector<std::string> names;
    for (const Isa& isa : known_isas())
        if (isa.runs_here) names.emplace_back(isa.name);
    return names;
}

const Kernels& kernels_for(const std::string& name) {
    const Kernels* found = nullptr;
    for (const Isa& isa : known_isas())
        if (isa.runs_here && (name == "auto" || name == isa.name)) found = isa.kernels;
    if (found == nullptr)
        throw std::invalid_argument("no kernel for instruction set '" + name + "' runs here");
    return *found;
}

bool is_utf8_column(const Column& column, const Kernels& kernels) {
    if (column.count == 0) return true;
    const std::int64_t begin = column.offsets[0], end = column.offsets[column.count];
    if (begin == end) return true;
    // Together they are well-formed; so is each if none begins in the middle of a character.
    if (!kernels.is_utf8(column.data + begin, static_cast<std::size_t>(end - begin))) return false;
    for (std::size_t i = 0; i < column.count; ++i)
        if (column.offsets[i] < end && (column.data[column.offsets[i]] & 0xC0) == 0x80) return false;
    return true;
}

void fingerprint_column(const Column& column, const Recipe& recipe, const Rows& rows,
                        std::size_t threads, const Kernels& kernels) {
    share_ranges(column.offsets, column.count, kTaskBytes, threads, [&](const NextRange& next) {
        kernels.fingerprint_ranges(column, recipe, rows, next);
    });
}

void weigh_column(const TermColumn& column, const TermRecipe& recipe, const TermRows& rows,
                  std::size_t threads, const Kernels& kernels) {
    share_ranges(column.offsets, column.count, kTaskTerms, threads, [&](const NextRange& next) {
        kernels.weigh_ranges(column, recipe, rows, next);
    });
}

}  // namespace neardup
