#include "neardup/terms/sentences.hpp"

#include <algorithm>
#include <cstring>
#include <set>

#include "neardup/parallel.hpp"
#include "neardup/terms/stretches.hpp"

namespace neardup {

namespace {

constexpr std::size_t kTextsAtOnce = 256;

class SentenceCutter {
  public:
    explicit SentenceCutter(std::vector<Stretch>& out) : out_(out) {}

    void all(Stretch text) {
        in_.for_paragraphs(text, [this](Stretch paragraph) { cut(paragraph); });
    }

    void edges(Stretch text) {
        lines_.clear();
        in_.for_lines(text, [this](Stretch line) {
            if (in_.has_word(line)) lines_.push_back(line);
        });
        if (lines_.empty()) return;
        paragraphs_.clear();
        in_.for_paragraphs(text, [this](Stretch paragraph) {
            if (!paragraph.empty()) paragraphs_.push_back(paragraph);
        });
        const Stretch title = lines_[0];
        out_.push_back(title);
        bool first = true;
        for (const Stretch& part : paragraphs_.size() > 1 ? paragraphs_ : lines_) {
            const std::size_t before = out_.size();
            cut(part);
            if (out_.size() == before) continue;
            if (out_.size() > before + 2) {
                out_[before + 1] = out_.back();
                out_.resize(before + 2);
            }
            if (first)
                out_.erase(
                    std::remove_if(out_.begin() + static_cast<std::ptrdiff_t>(before), out_.end(),
                                   [&](const Stretch& one) { return same(one, title); }),
                    out_.end());
            first = false;
        }
    }

  private:
    static bool same(const Stretch& a, const Stretch& b) {
        return a.end - a.begin == b.end - b.begin &&
               std::memcmp(a.begin, b.begin, static_cast<std::size_t>(a.end - a.begin)) == 0;
    }

    void cut(Stretch paragraph) {
        in_.for_sentences(paragraph, [this](Stretch sentence) { out_.push_back(sentence); });
    }

    const Stretches in_;
    std::vector<Stretch>& out_;
    std::vector<Stretch> lines_, paragraphs_;
};

std::size_t code_points(Place at, std::size_t size) {
    std::size_t count = 0;
    for (std::size_t i = 0; i < size; ++i) count += (at[i] & 0xC0) != 0x80;
    return count;
}

}  // namespace

Sentences cut_sentences(const Column& texts, bool edges, std::size_t threads) {
    const std::size_t tasks = (texts.count + kTextsAtOnce - 1) / kTextsAtOnce;
    std::vector<std::vector<Stretch>> found(tasks);
    Sentences sentences;
    sentences.documents.assign(texts.count + 1, 0);
    parallel_tasks(tasks, threads, [&](const auto& next) {
        for (std::size_t task = next(); task != tasks; task = next()) {
            SentenceCutter cutter(found[task]);
            const std::size_t last = std::min(texts.count, (task + 1) * kTextsAtOnce);
            for (std::size_t i = task * kTextsAtOnce; i < last; ++i) {
                const std::size_t before = found[task].size();
                const Stretch text{texts.data + texts.offsets[i],
                                   texts.data + texts.offsets[i + 1]};
                if (edges) {
                    cutter.edges(text);
                } else {
                    cutter.all(text);
                }
                sentences.documents[i + 1] = static_cast<std::int64_t>(found[task].size() - before);
            }
        }
    });
    for (std::size_t i = 0; i < texts.count; ++i)
        sentences.documents[i + 1] += sentences.documents[i];
    for (const std::vector<Stretch>& some : found)
        for (const Stretch& sentence : some) {
            sentences.begins.push_back(sentence.begin - texts.data);
            sentences.lengths.push_back(sentence.end - sentence.begin);
        }
    return sentences;
}

std::vector<std::int64_t> longest_sentences(const Column& sentences, const std::int64_t* documents,
                                            std::size_t texts, const std::uint32_t* words,
                                            const std::uint64_t* hashes, std::size_t count,
                                            std::vector<std::int64_t>& offsets) {
    struct Ranked {
        std::uint32_t words;
        std::size_t characters;
        std::int64_t place;
    };
    std::vector<std::int64_t> chosen;
    std::vector<Ranked> ranked;
    std::set<std::uint64_t> seen;
    offsets.assign(1, 0);
    for (std::size_t i = 0; i < texts; ++i) {
        ranked.clear();
        for (std::int64_t at = documents[i]; at < documents[i + 1]; ++at) {
            const std::int64_t begin = sentences.offsets[at];
            const auto size = static_cast<std::size_t>(sentences.offsets[at + 1] - begin);
            ranked.push_back({words[at], code_points(sentences.data + begin, size), at});
        }
        const auto longer = [](const Ranked& a, const Ranked& b) {
            if (a.words != b.words) return a.words > b.words;
            if (a.characters != b.characters) return a.characters > b.characters;
            return a.place < b.place;
        };
        std::sort(ranked.begin(), ranked.end(), longer);
        seen.clear();
        const std::size_t first = chosen.size();
        for (const Ranked& one : ranked) {
            if (chosen.size() - first == count) break;
            if (seen.insert(hashes[one.place]).second) chosen.push_back(one.place);
        }
        std::sort(chosen.begin() + static_cast<std::ptrdiff_t>(first), chosen.end());
        offsets.push_back(static_cast<std::int64_t>(chosen.size()));
    }
    return chosen;
}

}  // namespace neardup
