#include "neardup/terms/text_terms.hpp"

#include <algorithm>
#include <utility>

namespace neardup {

namespace {

// Terms that are hashed before the first of them is looked up, so that their slots are loaded.
constexpr std::size_t kAtOnce = 64;

class SourceReader {
  public:
    SourceReader(TermCounter& counter, const std::vector<std::string>& prefixes,
                 const TermKernels& kernels)
        : counter_(counter), prefixes_(prefixes), joiner_(kernels) {}

    void read(const TermSource& source, std::size_t document) {
        if (source.words[document] == 0) return;
        const bool single = source.documents == nullptr;
        const auto first = single ? document : static_cast<std::size_t>(source.documents[document]);
        const auto last =
            single ? document + 1 : static_cast<std::size_t>(source.documents[document + 1]);
        for (std::size_t i = first; i < last; ++i) read_string(source, i);
    }

  private:
    void read_string(const TermSource& source, std::size_t string) {
        Arena& arena = counter_.arena();
        const std::size_t origin = arena.size();
        const std::uint8_t* text = source.strings.data + source.strings.offsets[string];
        const auto size = static_cast<std::size_t>(source.strings.offsets[string + 1] -
                                                   source.strings.offsets[string]);
        const bool words = source.shingle.words;
        const std::size_t units =
            words ? joiner_.words(text, size, arena) : joiner_.characters(text, size, arena);
        if (units == 0) return;
        const std::size_t length = std::min(units, source.shingle.size);
        count_windows(source, origin, units - length + 1, length, words ? 1 : 0);
        if (!counter_.has_new_since(origin)) arena.cut_to(origin);
    }

    void count_windows(const TermSource& source, std::size_t origin, std::size_t windows,
                       std::size_t length, std::size_t gap) {
        const std::uint32_t* starts = joiner_.starts();
        const TermUnits units = source.shingle.words ? TermUnits::words
                                : length > 1         ? TermUnits::characters
                                                     : TermUnits::one;
        const std::string& prefix = prefixes_[source.field];
        std::uint64_t hashes[kAtOnce];
        for (std::size_t first = 0; first < windows; first += kAtOnce) {
            const std::size_t some = std::min(kAtOnce, windows - first);
            const std::uint8_t* text = counter_.arena().data() + origin;
            for (std::size_t i = 0; i < some; ++i) {
                const std::uint32_t begin = starts[first + i];
                const std::size_t size = starts[first + i + length] - gap - begin;
                hashes[i] = TermTable::hash(text + begin, size, source.field);
                counter_.table().prefetch(hashes[i]);
            }
            for (std::size_t i = 0; i < some; ++i) {
                const std::uint32_t begin = starts[first + i];
                const std::size_t size = starts[first + i + length] - gap - begin;
                counter_.count(hashes[i], origin + begin, size, units, source.field, prefix);
            }
        }
    }

    TermCounter& counter_;
    const std::vector<std::string>& prefixes_;
    UnitJoiner joiner_;
};

}  // namespace

void TermCounter::count(std::uint64_t hash, std::size_t begin, std::size_t length, TermUnits units,
                        std::uint32_t field, const std::string& prefix) {
    Arena& arena = found_.bytes;
    const std::size_t place = table_.find(arena.data(), hash, arena.data() + begin, length, field);
    if (place == table_.size()) {
        std::size_t stored = begin;
        if (!prefix.empty()) {
            std::uint8_t* to = arena.room(prefix.size() + length);
            std::memcpy(to, prefix.data(), prefix.size());
            std::memcpy(to + prefix.size(), arena.data() + begin, length);
            stored = arena.size() + prefix.size();
            arena.take(prefix.size() + length);
        }
        table_.add(hash, {stored, static_cast<std::uint32_t>(length), field});
        found_.units.push_back(units);
        last_entry_.resize(last_entry_.size() + ways_);
        newest_end_ = stored + length;
    }
    const std::size_t way = ways_ == 2 && units == TermUnits::characters ? 1 : 0;
    std::size_t& entry = last_entry_[place * ways_ + way];
    if (entry > part_) {
        found_.counts[entry - 1] += 1;
        return;
    }
    found_.places.push_back(static_cast<std::int32_t>(place));
    found_.counts.push_back(1);
    entry = found_.places.size();
}

FoundTerms TermCounter::finished(const std::vector<std::string>& prefixes) {
    found_.begins.resize(table_.size());
    found_.lengths.resize(table_.size());
    found_.fields.resize(table_.size());
    for (std::size_t i = 0; i < table_.size(); ++i) {
        const TermTable::Term& term = table_[i];
        const std::size_t prefix = prefixes[term.tag].size();
        found_.begins[i] = static_cast<std::int64_t>(term.begin - prefix);
        found_.lengths[i] = static_cast<std::int64_t>(term.length + prefix);
        found_.fields[i] = term.tag;
    }
    return std::move(found_);
}

FoundTerms find_terms(const std::vector<TermSource>& sources,
                      const std::vector<std::string>& prefixes, std::size_t documents,
                      const TermKernels& kernels) {
    const auto of_words = [](const TermSource& source) { return source.shingle.words; };
    const bool mixed = std::any_of(sources.begin(), sources.end(), of_words) &&
                       !std::all_of(sources.begin(), sources.end(), of_words);
    TermCounter counter(mixed ? 2 : 1);
    SourceReader reader(counter, prefixes, kernels);
    for (std::size_t document = 0; document < documents; ++document) {
        for (std::size_t i = 0; i < sources.size(); ++i) {
            if (i == 0 || sources[i].field != sources[i - 1].field) counter.begin_part();
            reader.read(sources[i], document);
        }
        counter.end_document();
    }
    return counter.finished(prefixes);
}

}  // namespace neardup
