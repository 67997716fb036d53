#include "neardup/spans/shared_runs.hpp"

#include <bit>
#include <stdexcept>

namespace neardup {

namespace {

constexpr std::uint32_t kNone = ~0U;

// Open addressing: slots hold the number of an entry, or kNone. The entries are elsewhere.
class Slots {
  public:
    // Call found(number) for the entries that may be the wanted one, until it returns true; the
    // number, or kNone.
    template <typename Found>
    std::uint32_t find(std::uint64_t hash, const Found& found) const {
        for (std::size_t slot = hash >> shift_;; slot = (slot + 1) & (slots_.size() - 1))
            if (slots_[slot] == kNone || found(slots_[slot])) return slots_[slot];
    }

    // Add the entry `used()`; hash_of(number) is asked for all entries if the table grows.
    template <typename HashOf>
    void add(const HashOf& hash_of) {
        if (2 * (used_ + 1) > slots_.size()) {
            slots_.assign(2 * slots_.size(), kNone);
            --shift_;
            for (std::uint32_t number = 0; number < used_; ++number) put(hash_of(number), number);
        }
        put(hash_of(used_), used_);
        ++used_;
    }

    std::uint32_t used() const { return used_; }

  private:
    void put(std::uint64_t hash, std::uint32_t number) {
        std::size_t slot = hash >> shift_;
        while (slots_[slot] != kNone) slot = (slot + 1) & (slots_.size() - 1);
        slots_[slot] = number;
    }

    static constexpr int kFirstBits = 10;
    std::vector<std::uint32_t> slots_ = std::vector<std::uint32_t>(1 << kFirstBits, kNone);
    int shift_ = 64 - kFirstBits;
    std::uint32_t used_ = 0;
};

constexpr std::uint64_t kMixer = 0x9E3779B97F4A7C15ULL;

// Numbers of distinct words, from 0 on.
class Words {
  public:
    std::uint32_t find(std::uint64_t word) const {
        return slots_.find(word * kMixer, [&](std::uint32_t i) { return words_[i] == word; });
    }

    std::uint32_t number(std::uint64_t word) {
        const std::uint32_t known = find(word);
        if (known != kNone) return known;
        words_.push_back(word);
        slots_.add([&](std::uint32_t i) { return words_[i] * kMixer; });
        return slots_.used() - 1;
    }

  private:
    std::vector<std::uint64_t> words_;
    Slots slots_;
};

// The suffix automaton of a document (A. Blumer et al., "The smallest automaton recognizing the
// subwords of a text", 1985): it accepts all runs of words of the document, and has at most two
// states and three edges for each word.
class SuffixAutomaton {
  public:
    static constexpr std::uint32_t kRoot = 0;

    struct State {
        std::uint32_t length;  // of its longest run
        std::uint32_t link;    // the state of the longest suffix of its runs that has another one
        std::uint32_t end;     // where its runs end for the first time
        std::uint32_t edge;    // its first edge
    };

    SuffixAutomaton() { states_.push_back({0, kNone, 0, kNone}); }

    void append(std::uint32_t word) {
        const std::uint32_t length = states_[last_].length + 1;
        const std::uint32_t added = new_state({length, kRoot, length, kNone});
        std::uint32_t from = last_, edge = kNone;
        while (from != kNone && (edge = edge_of(from, word)) == kNone) {
            add_edge(from, word, added);
            from = states_[from].link;
        }
        if (from != kNone) {
            const std::uint32_t to = edges_[edge].to;
            states_[added].link =
                states_[from].length + 1 == states_[to].length ? to : split(from, word, to);
        }
        last_ = added;
    }

    const State& state(std::uint32_t number) const { return states_[number]; }

    // Where a word leads; kNone if nowhere.
    std::uint32_t after(std::uint32_t state, std::uint32_t word) const {
        const std::uint32_t edge = edge_of(state, word);
        return edge == kNone ? kNone : edges_[edge].to;
    }

  private:
    struct Edge {
        std::uint32_t from, word, to;
        std::uint32_t next;  // of the same state
    };

    static std::uint64_t hash(std::uint32_t state, std::uint32_t word) {
        const std::uint64_t both = std::uint64_t{state} << 32 | word;
        return (both ^ both >> 29) * kMixer;
    }

    std::uint32_t new_state(const State& state) {
        states_.push_back(state);
        return static_cast<std::uint32_t>(states_.size() - 1);
    }

    std::uint32_t edge_of(std::uint32_t state, std::uint32_t word) const {
        return slots_.find(hash(state, word), [&](std::uint32_t i) {
            return edges_[i].from == state && edges_[i].word == word;
        });
    }

    void add_edge(std::uint32_t from, std::uint32_t word, std::uint32_t to) {
        edges_.push_back({from, word, to, states_[from].edge});
        states_[from].edge = slots_.used();
        slots_.add([&](std::uint32_t i) { return hash(edges_[i].from, edges_[i].word); });
    }

    // The shorter runs of `to`, which now end at more places, get a state of their own.
    std::uint32_t split(std::uint32_t from, std::uint32_t word, std::uint32_t to) {
        const State old = states_[to];
        const std::uint32_t shorter =
            new_state({states_[from].length + 1, old.link, old.end, kNone});
        for (std::uint32_t edge = old.edge; edge != kNone; edge = edges_[edge].next)
            add_edge(shorter, edges_[edge].word, edges_[edge].to);
        for (; from != kNone; from = states_[from].link) {
            const std::uint32_t edge = edge_of(from, word);
            if (edge == kNone || edges_[edge].to != to) break;
            edges_[edge].to = shorter;
        }
        states_[to].link = shorter;
        return shorter;
    }

    std::vector<State> states_;
    std::vector<Edge> edges_;
    Slots slots_;
    std::uint32_t last_ = kRoot;
};

}  // namespace

std::vector<SharedRun> shared_runs(const WordSequence& first, const WordSequence& second,
                                   std::uint32_t least) {
    constexpr std::size_t kMost = std::size_t{1} << 30;  // three edges for each word have numbers
    if (first.count >= kMost || second.count >= kMost)
        throw std::length_error("a document has more than 2^30 words");
    Words words;
    SuffixAutomaton automaton;
    for (std::size_t i = 0; i < second.count; ++i) automaton.append(words.number(second.hashes[i]));

    std::vector<SharedRun> found;
    std::uint32_t state = SuffixAutomaton::kRoot, length = 0;
    // The run that ends before word `end` of the first document cannot go on.
    const auto take = [&](std::size_t end) {
        if (length >= least && length != 0)
            found.push_back({static_cast<std::uint32_t>(end) - length,
                             automaton.state(state).end - length, length});
    };
    for (std::size_t i = 0; i < first.count; ++i) {
        const std::uint32_t word = words.find(first.hashes[i]);
        std::uint32_t next = word == kNone ? kNone : automaton.after(state, word);
        if (next == kNone) {
            take(i);
            // Leave out words at the front until what is left goes on.
            while (next == kNone && state != SuffixAutomaton::kRoot) {
                state = word == kNone ? SuffixAutomaton::kRoot : automaton.state(state).link;
                length = automaton.state(state).length;
                if (word != kNone) next = automaton.after(state, word);
            }
            if (next == kNone) {
                length = 0;
                continue;
            }
        }
        state = next;
        ++length;
    }
    take(first.count);
    return found;
}

}  // namespace neardup
