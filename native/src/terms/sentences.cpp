#include "neardup/terms/sentences.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <set>

#include "neardup/parallel.hpp"
#include "neardup/terms/characters.hpp"

namespace neardup {

namespace {

using Place = const std::uint8_t*;

constexpr std::size_t kTextsAtOnce = 256;
constexpr std::uint32_t kFullWidthStop = 0xFF0E;
constexpr std::uint32_t kEllipsis = 0x2026;

struct Stretch {
    Place begin, end;

    bool empty() const { return begin == end; }
};

// Bytes at which a mark or a line break can begin.
struct Starters {
    std::array<bool, 256> marks{}, breaks{};

    Starters() {
        const Properties& table = properties();
        for (std::uint32_t byte = 0; byte < 256; ++byte) {
            const std::uint16_t is = byte < 0x80 ? table.of(byte) : 0;
            marks[byte] = byte >= 0xC2 || (is & (Properties::soft_end | Properties::firm_end)) != 0;
            // U+0085, U+2028 and U+2029 are the only others.
            breaks[byte] = byte == 0xC2 || byte == 0xE2 || (is & Properties::line_break) != 0;
        }
    }
};

const Starters& starters() {
    static const Starters bytes;
    return bytes;
}

class SentenceCutter {
  public:
    explicit SentenceCutter(std::vector<Stretch>& out) : out_(out) {}

    void all(Stretch text) {
        for_paragraphs(text, [this](Stretch paragraph) { cut(paragraph); });
    }

    void edges(Stretch text) {
        lines_.clear();
        for_lines(text, [this](Stretch line) {
            if (has_word(line)) lines_.push_back(line);
        });
        if (lines_.empty()) return;
        paragraphs_.clear();
        for_paragraphs(text, [this](Stretch paragraph) {
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

    bool is(Character character, std::uint16_t property) const {
        return (table_.of(character.code) & property) != 0;
    }

    Stretch stripped(Stretch text) const {
        while (!text.empty()) {
            const Character first = character_at(text.begin, text.end);
            if (!is(first, Properties::space)) break;
            text.begin += first.length;
        }
        while (!text.empty()) {
            const Place last = before(text.end, text.begin);
            if (!is(character_at(last, text.end), Properties::space)) break;
            text.end = last;
        }
        return text;
    }

    bool has_word(Stretch text) const {
        while (!text.empty()) {
            const Character first = character_at(text.begin, text.end);
            if (is(first, Properties::in_word)) return true;
            text.begin += first.length;
        }
        return false;
    }

    // The place behind the line break at `at`, or `at` if there is none.
    Place behind_break(Place at, Place end) const {
        if (at == end) return at;
        if (at[0] == '\r' && at + 1 != end && at[1] == '\n') return at + 2;
        const Character character = character_at(at, end);
        return is(character, Properties::line_break) ? at + character.length : at;
    }

    // Where the next line break is, and where it ends; both the end if there is none.
    Stretch next_break(Place at, Place end) const {
        while (at != end) {
            if (!starters_.breaks[*at]) {
                ++at;
                continue;
            }
            const Place behind = behind_break(at, end);
            if (behind != at) return {at, behind};
            at += character_at(at, end).length;
        }
        return {end, end};
    }

    template <typename Take>
    void for_lines(Stretch text, const Take& take) const {
        Place line = text.begin;
        while (true) {
            const Stretch found = next_break(line, text.end);
            take(stripped({line, found.begin}));
            if (found.begin == text.end) return;
            line = found.end;
        }
    }

    // The stretches between blank lines.
    template <typename Take>
    void for_paragraphs(Stretch text, const Take& take) const {
        Place paragraph = text.begin;
        for (Place at = text.begin; at != text.end;) {
            const Stretch found = next_break(at, text.end);
            at = behind_last_break(found.end, text.end);
            if (at == found.end) continue;
            take(stripped({paragraph, found.begin}));
            paragraph = at;
        }
        take(stripped({paragraph, text.end}));
    }

    // The place behind the last of the line breaks that follow with only white space between.
    Place behind_last_break(Place at, Place end) const {
        Place last = at;
        while (at != end) {
            const Place next = behind_break(at, end);
            if (next != at) {
                at = last = next;
                continue;
            }
            const Character character = character_at(at, end);
            if (!is(character, Properties::space)) break;
            at += character.length;
        }
        return last;
    }

    // Cut one paragraph, stripped of white space.
    void cut(Stretch paragraph) {
        Place start = paragraph.begin;
        for (Place at = paragraph.begin; at != paragraph.end;) {
            if (!starters_.marks[*at]) {
                ++at;
                continue;
            }
            const Character character = character_at(at, paragraph.end);
            const Place next = at + character.length;
            Place end;
            bool ends;
            if (is_firm(character, next, paragraph.end)) {
                end = behind_all(next, paragraph.end,
                                 Properties::firm_end | Properties::soft_end | Properties::closer,
                                 kFullWidthStop);
                ends = true;
            } else if (is(character, Properties::soft_end)) {
                end = behind_all(next, paragraph.end,
                                 Properties::soft_end | Properties::soft_closer, 0);
                ends = ends_softly(paragraph, at, end);
            } else {
                at = next;
                continue;
            }
            if (ends) {
                add({start, end});
                start = end;
            }
            at = end;
        }
        add({start, paragraph.end});
    }

    bool is_firm(Character character, Place next, Place end) const {
        if (is(character, Properties::firm_end)) return true;
        if (character.code == kEllipsis)
            return next != end && character_at(next, end).code == kEllipsis;
        if (character.code != kFullWidthStop) return false;
        return next == end || !is(character_at(next, end), Properties::any_digit);
    }

    // The first place from `at` on whose character has none of the properties and is not `also`.
    Place behind_all(Place at, Place end, std::uint16_t property, std::uint32_t also) const {
        while (at != end) {
            const Character character = character_at(at, end);
            if (!is(character, property) && (also == 0 || character.code != also)) break;
            at += character.length;
        }
        return at;
    }

    // Whether the mark of rule 3 from `begin` to `end` ends a sentence.
    bool ends_softly(Stretch paragraph, Place begin, Place end) const {
        const Place following = behind_all(end, paragraph.end, Properties::space, 0);
        if (following == end || following == paragraph.end) return false;
        if (is(character_at(following, paragraph.end), Properties::lower_or_digit)) return false;
        return end - begin != 1 || *begin != '.' || !one_letter_before(paragraph, begin);
    }

    // Whether a word of one character stands before a full stop.
    bool one_letter_before(Stretch paragraph, Place stop) const {
        if (stop == paragraph.begin) return false;
        const Place letter = before(stop, paragraph.begin);
        if (!is(character_at(letter, stop), Properties::letter)) return false;
        if (letter == paragraph.begin) return true;
        const Place other = before(letter, paragraph.begin);
        return *other == '.' ||
               is(character_at(other, letter), Properties::space | Properties::opener);
    }

    void add(Stretch sentence) {
        sentence = stripped(sentence);
        if (has_word(sentence)) out_.push_back(sentence);
    }

    const Properties& table_ = properties();
    const Starters& starters_ = starters();
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
