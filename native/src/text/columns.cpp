#include "neardup/text/kernels.hpp"

#include <algorithm>
#include <limits>
#include <memory>
#include <mutex>
#include <numeric>
#include <thread>
#include <utility>
#include <vector>

#include "neardup/parallel.hpp"

namespace neardup {

namespace {

constexpr std::int64_t kTaskBytes = 256 << 10;
constexpr std::int64_t kTaskTerms = 16 << 10;

// Distribute documents to threads in tasks of about `task_size` bytes or terms, measured by
// `offsets`. Task t holds the documents that begin in the t-th stretch; the last task also holds
// the empty documents at the very end.
template <typename Work>
void share_ranges(const std::int64_t* offsets, std::size_t count, std::int64_t task_size,
                  std::size_t threads, const Work& work) {
    if (count == 0) return;
    const std::int64_t begin = offsets[0];
    const auto tasks = static_cast<std::size_t>((offsets[count] - begin) / task_size + 1);
    const auto first_from = [&](std::size_t task) -> std::size_t {
        if (task >= tasks) return count;
        const std::int64_t least = begin + static_cast<std::int64_t>(task) * task_size;
        return static_cast<std::size_t>(std::lower_bound(offsets, offsets + count, least) -
                                        offsets);
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

NextRange whole_column(const Column& column) {
    return [left = column.count]() mutable { return Range{0, std::exchange(left, 0)}; };
}

bool is_utf8_column(const Column& column, const TextKernels& kernels) {
    if (column.count == 0) return true;
    const std::int64_t begin = column.offsets[0], end = column.offsets[column.count];
    if (begin == end) return true;
    // The whole is well-formed; each string is too if none begins inside a character.
    if (!kernels.is_utf8(column.data + begin, static_cast<std::size_t>(end - begin))) return false;
    for (std::size_t i = 0; i < column.count; ++i)
        if (column.offsets[i] < end && (column.data[column.offsets[i]] & 0xC0) == 0x80)
            return false;
    return true;
}

void fingerprint_column(const Column& column, const Recipe& recipe, const Rows& rows,
                        std::size_t threads, const TextKernels& kernels) {
    share_ranges(column.offsets, column.count, kTaskBytes, threads, [&](const NextRange& next) {
        kernels.fingerprint_ranges(column, recipe, rows, next);
    });
}

void word_keys(const Column& column, std::uint32_t* words, std::uint64_t* keys, std::size_t threads,
               const TextKernels& kernels) {
    share_ranges(column.offsets, column.count, kTaskBytes, threads,
                 [&](const NextRange& next) { kernels.key_ranges(column, words, keys, next); });
}

void weigh_column(const TermColumn& column, const TermRecipe& recipe, const TermRows& rows,
                  std::size_t threads, const TextKernels& kernels) {
    share_ranges(column.offsets, column.count, kTaskTerms, threads,
                 [&](const NextRange& next) { kernels.weigh_ranges(column, recipe, rows, next); });
}

void weigh_features(const FeatureColumn& column, const TermRecipe& recipe, const TermRows& rows,
                    std::size_t threads, const TextKernels& kernels) {
    share_ranges(column.offsets, column.count, kTaskTerms, threads, [&](const NextRange& next) {
        kernels.weigh_feature_ranges(column, recipe, rows, next);
    });
}

std::size_t order_features(const FeatureColumn& column, const OrderedFeatures& ordered,
                           std::size_t threads, const TextKernels& kernels) {
    ordered.offsets[0] = 0;
    share_ranges(column.offsets, column.count, kTaskTerms, threads,
                 [&](const NextRange& next) { kernels.order_ranges(column, ordered, next); });
    // So far the offsets are sizes, and each document is where it would be without equal features.
    std::int64_t end = 0;
    for (std::size_t i = 0; i < column.count; ++i) {
        const std::int64_t from = column.offsets[i] - column.offsets[0],
                           size = ordered.offsets[i + 1];
        if (from != end) {
            std::copy_n(ordered.hashes + from, size, ordered.hashes + end);
            std::copy_n(ordered.weights + from, size, ordered.weights + end);
        }
        ordered.offsets[i + 1] = end += size;
    }
    return static_cast<std::size_t>(end);
}

namespace {

// What a thread keeps for its next column, so that its pages are not cleared again for each.
constexpr std::size_t kMostKept = std::size_t{32} << 20;

// The features found by one thread, kept until the total size is known.
struct FoundFeatures final : FeatureTaker {
    struct Document {
        std::size_t place, first, size;
    };
    std::vector<Document> documents;
    std::vector<std::uint64_t> hashes;
    std::vector<std::uint32_t> counts;
    FeatureTable* table = nullptr;
    bool with_counts = false;

    void begin(FeatureTable& into, bool counted) {
        documents.clear();
        hashes.clear();
        counts.clear();
        table = &into;
        with_counts = counted;
    }

    void take(std::size_t document, std::size_t words, const std::uint64_t* found,
              const std::uint32_t* found_counts, std::size_t size) override {
        constexpr std::size_t most = std::numeric_limits<std::uint32_t>::max();
        documents.push_back({document, hashes.size(), size});
        hashes.insert(hashes.end(), found, found + size);
        if (with_counts) counts.insert(counts.end(), found_counts, found_counts + size);
        table->words[document] = static_cast<std::uint32_t>(std::min(words, most));
        table->offsets[document + 1] = static_cast<std::int64_t>(size);
    }

    void release_if_large() {
        const std::size_t held =
            documents.capacity() * sizeof(Document) + hashes.capacity() * 8 + counts.capacity() * 4;
        if (held <= kMostKept) return;
        documents = {};
        hashes = {};
        counts = {};
    }
};

// The features found by several threads, in the order of the documents, in memory of that size.
template <typename T>
std::vector<T> in_order(const std::vector<FoundFeatures*>& found,
                        const std::vector<std::int64_t>& offsets,
                        std::vector<T> FoundFeatures::* values) {
    std::vector<const T*> begins(offsets.size() - 1);
    for (const FoundFeatures* part : found)
        for (const FoundFeatures::Document& document : part->documents)
            begins[document.place] = (part->*values).data() + document.first;
    std::vector<T> all;
    all.reserve(static_cast<std::size_t>(offsets.back()));
    for (std::size_t i = 0; i < begins.size(); ++i)
        all.insert(all.end(), begins[i], begins[i] + (offsets[i + 1] - offsets[i]));
    return all;
}

}  // namespace

FeatureTable features_of(const Column& column, const ShingleList& shingles, bool with_counts,
                         std::size_t threads, const TextKernels& kernels) {
    thread_local FoundFeatures kept;
    FoundFeatures* const first = &kept;
    const std::thread::id caller = std::this_thread::get_id();
    FeatureTable table;
    table.offsets.resize(column.count + 1);
    table.words.resize(column.count);
    std::vector<std::unique_ptr<FoundFeatures>> others;
    std::mutex lock;
    first->begin(table, with_counts);
    share_ranges(column.offsets, column.count, kTaskBytes, threads, [&](const NextRange& next) {
        FoundFeatures* mine = first;
        if (std::this_thread::get_id() != caller) {
            const std::lock_guard<std::mutex> hold(lock);
            others.push_back(std::make_unique<FoundFeatures>());
            mine = others.back().get();
            mine->begin(table, with_counts);
        }
        kernels.feature_ranges(column, shingles, *mine, next);
    });
    std::partial_sum(table.offsets.begin(), table.offsets.end(), table.offsets.begin());
    std::vector<FoundFeatures*> found{first};
    for (const std::unique_ptr<FoundFeatures>& other : others) found.push_back(other.get());
    if (others.empty()) {  // one thread visits the documents in order
        table.hashes.assign(first->hashes.begin(), first->hashes.end());
        table.counts.assign(first->counts.begin(), first->counts.end());
    } else {
        table.hashes = in_order(found, table.offsets, &FoundFeatures::hashes);
        if (with_counts) table.counts = in_order(found, table.offsets, &FoundFeatures::counts);
    }
    first->release_if_large();
    return table;
}

}  // namespace neardup
