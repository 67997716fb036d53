#include "neardup/set_join/dense.hpp"

#include <algorithm>
#include <bit>
#include <numeric>
#include <stdexcept>
#include <vector>

namespace neardup {

namespace {

constexpr std::uint32_t kNone = 0xFFFFFFFF;
constexpr std::uint64_t kApart = ~std::uint64_t{0};

// What lies between two clusters: the pairs of documents, or kApart. It is in the lists of both.
struct Edge {
    std::uint32_t ends[2];
    std::uint32_t next[2], previous[2];
    std::uint64_t pairs;

    int side(std::uint32_t cluster) const { return ends[0] == cluster ? 0 : 1; }
};

// The edges between clusters, found by their ends or by one end.
class Edges {
  public:
    Edges(std::size_t clusters, std::size_t most)
        : first_(clusters, kNone), degree_(clusters), slots_(std::bit_ceil(2 * most + 2), kNone) {
        edges_.reserve(most);
    }

    std::uint32_t degree(std::uint32_t cluster) const { return degree_[cluster]; }
    std::uint64_t pairs(std::uint32_t a, std::uint32_t b) const {
        return edges_[slots_[slot_of(a, b)]].pairs;
    }

    // False if there is one already.
    bool add(std::uint32_t a, std::uint32_t b, std::uint64_t pairs) {
        std::uint32_t& slot = slots_[slot_of(a, b)];
        if (slot != kNone) return false;
        slot = static_cast<std::uint32_t>(edges_.size());
        edges_.push_back({{a, b}, {}, {}, pairs});
        enlist(slot, a);
        enlist(slot, b);
        return true;
    }

    void set_apart(std::uint32_t a, std::uint32_t b) {
        if (!add(a, b, kApart)) edges_[slots_[slot_of(a, b)]].pairs = kApart;
    }

    // Hand the edges of `from` over to `to`; the one between the two goes.
    void move(std::uint32_t from, std::uint32_t to) {
        for (std::uint32_t at = first_[from], following; at != kNone; at = following) {
            Edge& edge = edges_[at];
            const int side = edge.side(from);
            const std::uint32_t other = edge.ends[1 - side];
            following = edge.next[side];
            forget(from, other);
            if (other == to) {
                delist(at, to);
                continue;
            }
            std::uint32_t& slot = slots_[slot_of(to, other)];
            if (slot == kNone) {
                slot = at;
                edge.ends[side] = to;
                enlist(at, to);
            } else {
                std::uint64_t& pairs = edges_[slot].pairs;
                pairs = pairs == kApart || edge.pairs == kApart ? kApart : pairs + edge.pairs;
                delist(at, other);
            }
        }
        first_[from] = kNone;
        degree_[from] = 0;
    }

  private:
    std::size_t home(std::uint32_t a, std::uint32_t b) const {
        const std::uint64_t key = std::uint64_t{std::min(a, b)} << 32 | std::max(a, b);
        const std::uint64_t mixed = (key ^ key >> 29) * 0x9E3779B97F4A7C15;
        return (mixed ^ mixed >> 32) & (slots_.size() - 1);
    }

    // Where the edge is, or would be: half of the slots are empty, so the search ends.
    std::size_t slot_of(std::uint32_t a, std::uint32_t b) const {
        for (std::size_t at = home(a, b);; at = (at + 1) & (slots_.size() - 1)) {
            if (slots_[at] == kNone) return at;
            const auto& ends = edges_[slots_[at]].ends;
            if ((ends[0] == a && ends[1] == b) || (ends[0] == b && ends[1] == a)) return at;
        }
    }

    // Empty a slot; edges behind it that would not be found any more move up.
    void forget(std::uint32_t a, std::uint32_t b) {
        const std::size_t mask = slots_.size() - 1;
        std::size_t hole = slot_of(a, b);
        for (std::size_t at = (hole + 1) & mask; slots_[at] != kNone; at = (at + 1) & mask) {
            const auto& ends = edges_[slots_[at]].ends;
            if (((at - home(ends[0], ends[1])) & mask) >= ((at - hole) & mask)) {
                slots_[hole] = slots_[at];
                hole = at;
            }
        }
        slots_[hole] = kNone;
    }

    void enlist(std::uint32_t at, std::uint32_t cluster) {
        Edge& edge = edges_[at];
        const int side = edge.side(cluster);
        const std::uint32_t next = first_[cluster];
        edge.next[side] = next;
        edge.previous[side] = kNone;
        if (next != kNone) edges_[next].previous[edges_[next].side(cluster)] = at;
        first_[cluster] = at;
        ++degree_[cluster];
    }

    void delist(std::uint32_t at, std::uint32_t cluster) {
        const Edge& edge = edges_[at];
        const int side = edge.side(cluster);
        const std::uint32_t next = edge.next[side], previous = edge.previous[side];
        if (previous == kNone)
            first_[cluster] = next;
        else
            edges_[previous].next[edges_[previous].side(cluster)] = next;
        if (next != kNone) edges_[next].previous[edges_[next].side(cluster)] = previous;
        --degree_[cluster];
    }

    std::vector<Edge> edges_;
    std::vector<std::uint32_t> first_, degree_, slots_;
};

// The documents of a cluster, and how many of them are of the collection itself.
struct Size {
    std::uint64_t all, own;
};

double possible_pairs(const Size& x, const Size& y) {
    return static_cast<double>(x.all * y.all - (x.all - x.own) * (y.all - y.own));
}

}  // namespace

void dense_clusters(std::size_t count, const NodeSizes& sizes, const PairList& pairs,
                    std::size_t certain, const PairList& apart, double share,
                    std::int64_t* smallest) {
    std::vector<std::uint32_t> parent(count);
    std::iota(parent.begin(), parent.end(), 0U);
    const auto root = [&](std::int64_t node) {
        auto at = static_cast<std::uint32_t>(node);
        while (parent[at] != at) at = parent[at] = parent[parent[at]];
        return at;
    };
    std::vector<Size> size(count);
    for (std::size_t i = 0; i < count; ++i) {
        const auto documents = static_cast<std::uint64_t>(sizes.documents[i]);
        size[i] = {documents, i < sizes.first_other ? documents : 0};
    }
    Edges edges(count, pairs.count + apart.count);
    for (std::size_t i = 0; i < pairs.count; ++i) {
        const auto a = static_cast<std::uint32_t>(pairs.a[i]),
                   b = static_cast<std::uint32_t>(pairs.b[i]);
        if (!edges.add(a, b, size[a].all * size[b].all))
            throw std::invalid_argument("a pair is named twice");
    }
    for (std::size_t i = 0; i < apart.count; ++i)
        edges.set_apart(static_cast<std::uint32_t>(apart.a[i]),
                        static_cast<std::uint32_t>(apart.b[i]));
    for (std::size_t i = 0; i < pairs.count; ++i) {
        std::uint32_t from = root(pairs.a[i]), to = root(pairs.b[i]);
        if (from == to) continue;
        const std::uint64_t found = edges.pairs(from, to);
        if (found == kApart) continue;
        // Divided, so that 7 of 100 pairs are a share of 0.07, which 0.07 * 100 > 7 would deny.
        if (i >= certain &&
            static_cast<double>(found) / possible_pairs(size[from], size[to]) < share)
            continue;
        if (edges.degree(from) > edges.degree(to)) std::swap(from, to);
        edges.move(from, to);
        size[to].all += size[from].all;
        size[to].own += size[from].own;
        parent[from] = to;
    }
    std::vector<std::int64_t> first(count, -1);
    for (std::size_t i = 0; i < count; ++i) {
        std::int64_t& least = first[root(static_cast<std::int64_t>(i))];
        if (least < 0) least = static_cast<std::int64_t>(i);
        smallest[i] = least;
    }
}

}  // namespace neardup
