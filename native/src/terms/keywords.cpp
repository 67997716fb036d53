#include "neardup/terms/keywords.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>

#include "neardup/terms/characters.hpp"
#include "neardup/terms/unit_joiner.hpp"
#include "neardup/text/block.hpp"

namespace neardup {

namespace {

class CandidateReader {
  public:
    CandidateReader(TermCounter& counter, const Segmenter* segmenter, const TermKernels& kernels)
        : counter_(counter), segmenter_(segmenter), cutter_(kernels.new_word_cutter()) {}

    void read_chinese(const std::uint8_t* text, std::size_t size) {
        segmenter_->cut(text, size, work_, [&](auto begin, auto end, std::size_t characters) {
            if (characters > 1) add(text + begin, end - begin);
        });
    }

    void read(const std::uint8_t* text, std::size_t size) {
        for (std::size_t begin = 0; begin < size;) {
            const std::size_t end = piece_end(text, begin, size);
            read_piece(cutter_->cut(text + begin, end - begin));
            begin = end;
        }
        end_run();
    }

  private:
    void read_piece(const LoweredWords& found) {
        const std::uint32_t* edge = found.edges;
        for (std::size_t i = 0; i < found.pairs; ++i, edge += 2) {
            if (!portable::begins_solo(found.text + edge[0])) {
                read_word(found.text, edge[0], edge[1]);
                continue;
            }
            for (std::uint32_t at = edge[0]; at < edge[1]; at += portable::kSoloBytes)
                read_word(found.text, at, at + portable::kSoloBytes);
        }
        // A run that reaches the end of a piece may go on in the next.
        if (run_end_ != found.size) end_run();
        run_end_ = 0;
    }

    void read_word(const std::uint8_t* text, std::uint32_t begin, std::uint32_t end) {
        const Character first = character_at(text + begin, text + end);
        const std::uint16_t is = properties_.of(first.code);
        if ((is & Properties::han) != 0) {
            if (begin != run_end_) end_run();
            run_.insert(run_.end(), text + begin, text + end);
            run_end_ = end;
            return;
        }
        end_run();
        if (first.length < end - begin || (is & Properties::letter) == 0)
            add(text + begin, end - begin);
    }

    // Cut the Han characters that followed each other.
    void end_run() {
        if (segmenter_ != nullptr && !run_.empty())
            segmenter_->cut(run_.data(), run_.size(), work_,
                            [&](auto begin, auto end, std::size_t characters) {
                                if (characters > 1) add(run_.data() + begin, end - begin);
                            });
        run_.clear();
    }

    void add(const std::uint8_t* word, std::size_t length) {
        Arena& arena = counter_.arena();
        const std::size_t begin = arena.size();
        std::memcpy(arena.room(length), word, length);
        arena.take(length);
        const std::uint64_t hash = TermTable::hash(arena.data() + begin, length, 0);
        counter_.count(hash, begin, length, TermUnits::one, 0, no_prefix_);
        if (!counter_.has_new_since(begin)) arena.cut_to(begin);
    }

    TermCounter& counter_;
    const Segmenter* segmenter_;
    std::unique_ptr<WordCutter> cutter_;
    const Properties& properties_ = properties();
    const std::string no_prefix_;
    Segmenter::Work work_;
    std::vector<std::uint8_t> run_;
    std::size_t run_end_ = 0;
};

}  // namespace

HanCount count_han(const std::uint8_t* text, std::size_t size) {
    const Properties& table = properties();
    const std::uint8_t* const end = text + size;
    HanCount count{0, false};
    for (const std::uint8_t* at = text; at != end;) {
        if (*at < 0xE3) {  // U+3000 is the first of these
            ++at;
            continue;
        }
        const Character character = character_at(at, end);
        count.characters += (table.of(character.code) & Properties::han) != 0;
        count.segmented |= Segmenter::is_han(character.code);
        at += character.length;
    }
    return count;
}

FoundTerms keyword_candidates(const Column& texts, const std::uint8_t* chinese,
                              const Segmenter* segmenter, const TermKernels& kernels) {
    TermCounter counter(1);
    CandidateReader reader(counter, segmenter, kernels);
    for (std::size_t i = 0; i < texts.count; ++i) {
        const std::uint8_t* text = texts.data + texts.offsets[i];
        const auto size = static_cast<std::size_t>(texts.offsets[i + 1] - texts.offsets[i]);
        counter.begin_part();
        if (chinese[i] != 0) {
            reader.read_chinese(text, size);
        } else {
            reader.read(text, size);
        }
        counter.end_document();
    }
    return counter.finished({std::string()});
}

std::vector<std::int64_t> best_entries(const TermList& terms, const std::int64_t* offsets,
                                       std::size_t documents, const std::int32_t* places,
                                       const double* weights, const std::uint8_t* in_order,
                                       std::size_t count, std::vector<std::int64_t>& kept) {
    const auto precedes = [&](std::int64_t a, std::int64_t b) {
        const std::int64_t left = terms.lengths[places[a]], right = terms.lengths[places[b]];
        const int order =
            std::memcmp(terms.data + terms.begins[places[a]], terms.data + terms.begins[places[b]],
                        static_cast<std::size_t>(std::min(left, right)));
        return order != 0 ? order < 0 : left < right;
    };
    std::vector<std::int64_t> best, every;
    kept.assign(1, 0);
    for (std::size_t i = 0; i < documents; ++i) {
        every.resize(static_cast<std::size_t>(offsets[i + 1] - offsets[i]));
        std::iota(every.begin(), every.end(), offsets[i]);
        const std::size_t most = std::min(count, every.size());
        std::partial_sort(every.begin(), every.begin() + static_cast<std::ptrdiff_t>(most),
                          every.end(), [&](std::int64_t a, std::int64_t b) {
                              if (weights[a] != weights[b]) return weights[a] > weights[b];
                              return in_order[i] != 0 ? a < b : precedes(a, b);
                          });
        best.insert(best.end(), every.begin(), every.begin() + static_cast<std::ptrdiff_t>(most));
        kept.push_back(static_cast<std::int64_t>(best.size()));
    }
    return best;
}

}  // namespace neardup
