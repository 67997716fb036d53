#include "neardup/passages/cut.hpp"

#include <algorithm>
#include <array>

#include "neardup/parallel.hpp"
#include "neardup/terms/stretches.hpp"

namespace neardup {

namespace {

constexpr std::size_t kTextsAtOnce = 256;
constexpr std::size_t kLeastFence = 3;
constexpr std::size_t kWrappedLine = 40;  // a line of so many characters may have been wrapped
// A paragraph is code if more than one in so many of its characters is one of these.
constexpr std::size_t kCodeShare = 16;
constexpr char kCodeCharacters[] = "(){}[]=<>;_*+&|\\#@$^~";

// Lines of a text. `fence` is the character of a line that can open or close a block of code, and
// `marks` how often it stands there; such a line `closes` if nothing follows them.
struct Line {
    Place begin, end;
    Place first;  // that is no white space; the end if there is none
    std::uint8_t fence = 0;
    bool closes = false;
    bool is_closed = false;  // a later line closes the block that this one opens
    bool starts = false;     // a paragraph or a block
    std::size_t marks = 0;

    bool blank() const { return first == end; }
};

class PassageCutter {
  public:
    PassageCutter(PassageUnit unit, std::vector<Place>& out) : unit_(unit), out_(out) {
        for (const char* at = kCodeCharacters; *at != 0; ++at)
            is_code_[static_cast<std::uint8_t>(*at)] = true;
    }

    void cut(Stretch text) {
        if (text.empty()) return;
        const std::size_t before = out_.size();
        find_lines(text);
        if (unit_ == PassageUnit::line) {
            for (std::size_t i = 0; i < lines_.size(); ++i)
                if (!lines_[i].blank()) i = add_lines(i);
        } else {
            find_paragraphs();
            for (std::size_t i = 0; i < lines_.size(); ++i)
                if (lines_[i].starts) add_paragraph(i);
        }
        // What stands before the first passage belongs to it.
        if (out_.size() == before) out_.push_back(text.begin);
        out_[before] = text.begin;
    }

  private:
    void find_lines(Stretch text) {
        lines_.clear();
        fences_ = false;
        for (Place at = text.begin; at != text.end;) {
            const Stretch found = in_.next_break(at, text.end);
            Line line;
            line.begin = at;
            line.end = found.begin;
            line.first = in_.behind_space(at, found.begin);
            if (!line.blank()) find_fence(line);
            lines_.push_back(line);
            at = found.end;
        }
    }

    void find_fence(Line& line) {
        const std::uint8_t mark = *line.first;
        if (mark != '`' && mark != '~') return;
        Place at = line.first;
        while (at != line.end && *at == mark) ++at;
        line.marks = static_cast<std::size_t>(at - line.first);
        if (line.marks < kLeastFence) return;
        // The words behind back quotes hold no other, or it would be code inside a line.
        if (mark == '`' && std::find(at, line.end, mark) != line.end) return;
        line.fence = mark;
        line.closes = in_.behind_space(at, line.end) == line.end;
        fences_ = true;
    }

    // The lines of the paragraph that starts at a line; returns its last one. A line in which a
    // wrapped sentence goes on belongs to the line before.
    std::size_t add_lines(std::size_t from) {
        std::size_t to = from + 1;
        while (to < lines_.size() && !lines_[to].blank()) ++to;
        const bool code = is_code(from, to);
        out_.push_back(lines_[from].begin);
        for (std::size_t i = from + 1; i < to; ++i)
            if (code || !is_wrapped(lines_[i - 1]) || !continues(lines_[i - 1], lines_[i]))
                out_.push_back(lines_[i].begin);
        return to - 1;
    }

    static bool is_wrapped(const Line& line) {
        std::size_t characters = 0;
        for (Place at = line.first; at != line.end; ++at) characters += (*at & 0xC0) != 0x80;
        return characters >= kWrappedLine;
    }

    // Mark the lines at which paragraphs and blocks of code start.
    void find_paragraphs() {
        if (fences_) find_closed();
        const bool by_lines = !has_gap();
        bool fresh = true;  // the next line starts something
        for (std::size_t i = 0; i < lines_.size(); ++i) {
            Line& line = lines_[i];
            if (line.is_closed) {
                line.starts = true;
                i = closing(i);
                fresh = true;
            } else if (line.blank()) {
                fresh = true;
            } else {
                line.starts = fresh || (by_lines && !continues(lines_[i - 1], line));
                fresh = false;
            }
        }
    }

    void find_closed() {
        std::size_t most_quotes = 0, most_waves = 0;
        for (std::size_t i = lines_.size(); i-- != 0;) {
            Line& line = lines_[i];
            if (line.fence == 0) continue;
            std::size_t& most = line.fence == '`' ? most_quotes : most_waves;
            line.is_closed = most >= line.marks;
            if (line.closes) most = std::max(most, line.marks);
        }
    }

    // The line that closes the block which the line at `i` opens.
    std::size_t closing(std::size_t i) const {
        const Line& opens = lines_[i];
        do {
            ++i;
        } while (lines_[i].fence != opens.fence || !lines_[i].closes ||
                 lines_[i].marks < opens.marks);
        return i;
    }

    // Whether a blank line outside of blocks stands between lines that are not blank.
    bool has_gap() const {
        bool any = false, blank = false;
        for (std::size_t i = 0; i < lines_.size(); ++i) {
            if (lines_[i].blank()) {
                blank = any;
                continue;
            }
            if (blank) return true;
            any = true;
            if (lines_[i].is_closed) i = closing(i);
        }
        return false;
    }

    // Whether a sentence goes on in the next line: one that has not ended, with a small letter.
    bool continues(const Line& line, const Line& next) const {
        const Character first = character_at(next.first, next.end);
        if (!in_.is(first, Properties::lower_or_digit) || (first.code >= '0' && first.code <= '9'))
            return false;
        Place at = in_.stripped({line.first, line.end}).end;
        while (at != line.first) {
            const Place last = before(at, line.first);
            const Character character = character_at(last, at);
            if (!in_.is(character, Properties::soft_closer))
                return !in_.is(character, Properties::firm_end | Properties::soft_end);
            at = last;
        }
        return true;
    }

    // The passages of the paragraph, or the block of code, that starts at a line.
    void add_paragraph(std::size_t from) {
        out_.push_back(lines_[from].begin);
        if (unit_ == PassageUnit::paragraph || lines_[from].is_closed) return;
        std::size_t to = from + 1;
        while (to < lines_.size() && !lines_[to].starts && !lines_[to].blank()) ++to;
        if (is_code(from, to)) {
            for (std::size_t i = from + 1; i < to; ++i) out_.push_back(lines_[i].begin);
            return;
        }
        bool first = true;
        in_.for_sentences(in_.stripped({lines_[from].first, lines_[to - 1].end}),
                          [&](Stretch sentence) {
                              if (!first) out_.push_back(sentence.begin);
                              first = false;
                          });
    }

    bool is_code(std::size_t from, std::size_t to) const {
        if (to - from < 2) return false;
        std::size_t all = 0, code = 0;
        for (std::size_t i = from; i < to; ++i) {
            for (Place at = lines_[i].first; at != lines_[i].end; ++at) {
                all += *at > ' ' && (*at & 0xC0) != 0x80;
                code += is_code_[*at];
            }
        }
        return code * kCodeShare > all;
    }

    const Stretches in_;
    const PassageUnit unit_;
    std::vector<Place>& out_;
    std::vector<Line> lines_;
    std::array<bool, 256> is_code_{};
    bool fences_ = false;
};

}  // namespace

Passages cut_passages(const Column& texts, PassageUnit unit, std::size_t threads) {
    const std::size_t tasks = (texts.count + kTextsAtOnce - 1) / kTextsAtOnce;
    std::vector<std::vector<Place>> found(tasks);
    Passages passages;
    passages.documents.assign(texts.count + 1, 0);
    parallel_tasks(tasks, threads, [&](const auto& next) {
        for (std::size_t task = next(); task != tasks; task = next()) {
            PassageCutter cutter(unit, found[task]);
            const std::size_t last = std::min(texts.count, (task + 1) * kTextsAtOnce);
            for (std::size_t i = task * kTextsAtOnce; i < last; ++i) {
                const std::size_t before = found[task].size();
                cutter.cut({texts.data + texts.offsets[i], texts.data + texts.offsets[i + 1]});
                passages.documents[i + 1] = static_cast<std::int64_t>(found[task].size() - before);
            }
        }
    });
    for (std::size_t i = 0; i < texts.count; ++i)
        passages.documents[i + 1] += passages.documents[i];
    passages.begins.reserve(static_cast<std::size_t>(passages.documents[texts.count]));
    for (const std::vector<Place>& some : found)
        for (const Place begin : some) passages.begins.push_back(begin - texts.data);
    return passages;
}

std::vector<std::uint8_t> begin_windows(const std::int64_t* documents, std::size_t texts,
                                        const std::uint32_t* words, const std::uint64_t* keys,
                                        std::size_t size) {
    // From half of the size on, one in `one_in` passages ends a window, and twice the size does.
    const std::uint64_t one_in = std::max<std::size_t>(2, size / 25);
    std::vector<std::uint8_t> begins(static_cast<std::size_t>(documents[texts]), 0);
    for (std::size_t i = 0; i < texts; ++i) {
        bool fresh = true;
        std::size_t held = 0;
        for (std::int64_t at = documents[i]; at < documents[i + 1]; ++at) {
            begins[static_cast<std::size_t>(at)] = fresh;
            held = (fresh ? 0 : held) + words[at];
            fresh = 2 * held >= size && (held >= 2 * size || keys[2 * at] % one_in == 0);
        }
    }
    return begins;
}

}  // namespace neardup
