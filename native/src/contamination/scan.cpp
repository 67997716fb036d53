#include <algorithm>
#include <unordered_map>

#include "neardup/contamination/benchmark.hpp"
#include "neardup/contamination/word_places.hpp"

namespace neardup {

namespace {

// Words `begin` up to but excluding `end` of a document.
struct WordRange {
    std::uint64_t begin, end;
};

// Join ranges that overlap or touch; they are then in order.
void merge(std::vector<WordRange>& ranges) {
    std::sort(ranges.begin(), ranges.end(),
              [](const WordRange& one, const WordRange& other) { return one.begin < other.begin; });
    std::size_t kept = 0;
    for (const WordRange& range : ranges) {
        if (kept != 0 && range.begin <= ranges[kept - 1].end)
            ranges[kept - 1].end = std::max(ranges[kept - 1].end, range.end);
        else
            ranges[kept++] = range;
    }
    ranges.resize(kept);
}

std::uint64_t words_in(const std::vector<WordRange>& ranges) {
    std::uint64_t words = 0;
    for (const WordRange& range : ranges) words += range.end - range.begin;
    return words;
}

}  // namespace

// Finds the items in one document after the other.
class DocumentScan final : public WordTaker {
  public:
    DocumentScan(const Benchmark& benchmark, const Column& documents, double least_share)
        : benchmark_(benchmark), documents_(documents), least_share_(least_share) {}

    void take(std::size_t document, const std::uint64_t* words, std::size_t count) override {
        found_.words += count;
        words_ = words;
        count_ = count;
        benchmark_.windows_.look_up(words, count, [&](std::size_t at, std::uint32_t entry) {
            benchmark_.windows_.positions(benchmark_.words(), entry, words + at,
                                          [&](std::uint32_t position) { take_seed(position, at); });
        });
        benchmark_.short_items_.look_up(words, count, [&](std::size_t at, std::uint32_t entry) {
            benchmark_.short_items_.positions(
                benchmark_.words(), entry, words + at,
                [&](std::uint32_t position) { take_short(position, at); });
        });
        if (runs_.empty()) return;
        finish_document(static_cast<std::uint32_t>(document));
        runs_.clear();
        items_.clear();
        unlisted_.clear();
    }

    Found& found() { return found_; }

  private:
    struct Run {
        std::uint32_t item;
        std::uint32_t position;  // in the words of the benchmark
        std::uint32_t words;
        std::uint64_t at;  // in the document
    };
    struct Unlisted {
        std::uint32_t item;
        WordRange range;
    };
    struct ItemState {
        std::uint32_t listed = 0;
        WordRange open = {0, 0};  // the last of those that are not listed
    };

    // The words at a place of the benchmark are those of the document from word `at` on. List the
    // longest run around them, unless an earlier window has found it.
    void take_seed(std::uint32_t position, std::size_t at) {
        const std::size_t field = benchmark_.field_at(position);
        const std::uint32_t begin = benchmark_.field_begins_[field],
                            end = benchmark_.field_begins_[field + 1];
        const std::uint64_t* const own = benchmark_.words().data();
        std::uint32_t before = 0;
        while (position - before > begin && at - before > 0 &&
               own[position - before - 1] == words_[at - before - 1]) {
            ++before;
            if (benchmark_.is_seed(position - before)) {
                go_on(benchmark_.field_items_[field], at);
                return;
            }
        }
        if (is_full(benchmark_.field_items_[field], at, benchmark_.settings_.min_words)) return;
        std::uint32_t length = benchmark_.settings_.min_words;
        while (position + length < end && at + length < count_ &&
               own[position + length] == words_[at + length])
            ++length;
        runs_.push_back(
            {benchmark_.field_items_[field], position - before, before + length, at - before});
    }

    // The first words of a short item are those of the document from word `at` on.
    void take_short(std::uint32_t position, std::size_t at) {
        const std::size_t field = benchmark_.field_at(position);
        const std::uint32_t words = benchmark_.field_begins_[field + 1] - position;
        if (at + words > count_ ||
            !std::equal(words_ + at, words_ + at + words, &benchmark_.words()[position]))
            return;
        if (is_full(benchmark_.field_items_[field], at, words)) return;
        runs_.push_back({benchmark_.field_items_[field], position, words, at});
    }

    // Whether enough hits of the item are listed; if so, only note that these words are its.
    bool is_full(std::uint32_t item, std::size_t at, std::uint32_t words) {
        ItemState& state = items_[item];
        if (state.listed < Benchmark::kMostHits) {
            ++state.listed;
            return false;
        }
        note(item, state, at, words);
        return true;
    }

    // A window inside a run that has been found. If that is not listed, note its words.
    void go_on(std::uint32_t item, std::size_t at) {
        ItemState& state = items_[item];
        if (state.open.end > at) note(item, state, at, benchmark_.settings_.min_words);
    }

    void note(std::uint32_t item, ItemState& state, std::size_t at, std::uint32_t words) {
        if (at > state.open.end || state.open.end == 0) {
            if (state.open.end != 0) unlisted_.push_back({item, state.open});
            state.open = {at, at + words};
        } else {
            state.open.end = std::max<std::uint64_t>(state.open.end, at + words);
        }
    }

    void finish_document(std::uint32_t document) {
        for (const auto& [item, state] : items_)
            if (state.open.end != 0) unlisted_.push_back({item, state.open});
        std::sort(runs_.begin(), runs_.end(), [](const Run& one, const Run& other) {
            if (one.item != other.item) return one.item < other.item;
            if (one.at != other.at) return one.at < other.at;
            return one.position < other.position;
        });
        std::vector<WordRange> all, chosen, own;
        for (std::size_t begin = 0; begin < runs_.size();) {
            const std::uint32_t item = runs_[begin].item;
            own.clear();
            std::uint32_t longest = 0;
            std::size_t end = begin;
            for (; end < runs_.size() && runs_[end].item == item; ++end) {
                own.push_back({runs_[end].position, runs_[end].position + runs_[end].words});
                longest = std::max(longest, runs_[end].words);
            }
            merge(own);
            std::uint32_t covered = 0;
            for (const WordRange& range : own)
                for (std::size_t i = range.begin; i < range.end; ++i)
                    covered += benchmark_.counts(i);
            found_.items.push_back(
                {document, item, covered, longest, static_cast<std::uint32_t>(end - begin)});
            const bool is_chosen =
                static_cast<double>(covered) / benchmark_.words_of_[item] >= least_share_;
            if (is_chosen) chosen_items_.push_back(item);
            for (; begin < end; ++begin) {
                const WordRange range{runs_[begin].at, runs_[begin].at + runs_[begin].words};
                all.push_back(range);
                if (is_chosen) chosen.push_back(range);
            }
        }
        for (const Unlisted& one : unlisted_) {
            all.push_back(one.range);
            if (std::binary_search(chosen_items_.begin(), chosen_items_.end(), one.item))
                chosen.push_back(one.range);
        }
        chosen_items_.clear();
        merge(all);
        merge(chosen);
        found_.documents.push_back({document, count_, words_in(all)});
        add_places(document, chosen);
    }

    // Add the hits and the ranges, with their places in the text.
    void add_places(std::uint32_t document, const std::vector<WordRange>& chosen) {
        std::vector<std::uint64_t> numbers;
        for (const Run& run : runs_) {
            numbers.push_back(run.at);
            numbers.push_back(run.at + run.words - 1);
        }
        for (const WordRange& range : chosen) {
            numbers.push_back(range.begin);
            numbers.push_back(range.end - 1);
        }
        std::sort(numbers.begin(), numbers.end());
        numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
        const std::int64_t begin = documents_.offsets[document],
                           end = documents_.offsets[document + 1];
        const std::vector<WordPlace> places =
            word_places({documents_.data + begin, static_cast<std::size_t>(end - begin)}, numbers);
        const auto place = [&](std::uint64_t number) -> const WordPlace& {
            return places[static_cast<std::size_t>(
                std::lower_bound(numbers.begin(), numbers.end(), number) - numbers.begin())];
        };
        const auto range_of = [&](std::uint64_t first, std::uint64_t last) -> TextRange {
            return {place(first).start_byte, place(last).end_byte, place(first).start,
                    place(last).end};
        };
        for (const Run& run : runs_) {
            const ItemRun of_item{run.item, run.position - benchmark_.item_begins_[run.item],
                                  run.words};
            found_.hits.push_back({document, of_item, range_of(run.at, run.at + run.words - 1)});
        }
        for (const WordRange& range : chosen)
            found_.ranges.push_back(
                {document, range_of(range.begin, range.end - 1), range.end - range.begin});
    }

    const Benchmark& benchmark_;
    const Column& documents_;
    double least_share_;
    Found found_;
    const std::uint64_t* words_ = nullptr;
    std::size_t count_ = 0;
    std::vector<Run> runs_;
    std::unordered_map<std::uint32_t, ItemState> items_;
    std::vector<Unlisted> unlisted_;
    std::vector<std::uint32_t> chosen_items_;
};

Found Benchmark::scan(const Column& documents, double least_share,
                      const TextKernels& kernels) const {
    DocumentScan scan(*this, documents, least_share);
    kernels.word_ranges(documents, scan, whole_column(documents));
    return std::move(scan.found());
}

}  // namespace neardup
