#include "neardup/terms/segmenter.hpp"

#include <limits>
#include <stdexcept>

namespace neardup {

namespace {

constexpr double kNever = -3.14e100;

}  // namespace

Segmenter::Segmenter(const Column& words, const double* weights, double unknown_word,
                     const std::uint32_t* characters, const Scores* emissions, std::size_t count,
                     const Scores& starts, const std::array<double, 8>& moves)
    : first_(kDirect, kNone),
      edges_(1 << 16),
      weights_(1, 0.0),
      unknown_word_(unknown_word),
      emission_of_(kDirect, 0),
      emissions_{{kNever, kNever, kNever, kNever}},
      starts_(starts),
      moves_(moves) {
    for (std::size_t i = 0; i < words.count; ++i) {
        const std::uint8_t* at = words.data + words.offsets[i];
        const std::uint8_t* const end = words.data + words.offsets[i + 1];
        std::uint32_t node = kRoot;
        while (at != end) {
            const Character character = character_at(at, end);
            node = child_made(node, character.code);
            at += character.length;
        }
        if (node != kRoot && weights[i] != 0) weights_[node] = weights[i];
    }
    for (std::size_t i = 0; i < count; ++i) {
        if (characters[i] >= kDirect) throw std::invalid_argument("a character is not Han");
        emission_of_[characters[i]] = static_cast<std::uint32_t>(emissions_.size());
        emissions_.push_back(emissions[i]);
    }
}

std::uint32_t Segmenter::child_made(std::uint32_t node, std::uint32_t code) {
    const std::uint32_t known = child(node, code);
    if (known != kNone) return known;
    const auto made = static_cast<std::uint32_t>(weights_.size());
    weights_.push_back(0.0);
    if (node == kRoot && code < kDirect) {
        first_[code] = made;
        return made;
    }
    if (2 * ++edge_count_ > edges_.size()) grow();
    const std::uint64_t key = std::uint64_t{node} << 32 | code;
    std::size_t at = slot_of(key);
    while (edges_[at].node != kNone) at = (at + 1) & (edges_.size() - 1);
    edges_[at] = {key, made};
    return made;
}

void Segmenter::grow() {
    std::vector<Edge> old(2 * edges_.size());
    old.swap(edges_);
    for (const Edge& edge : old) {
        if (edge.node == kNone) continue;
        std::size_t at = slot_of(edge.key);
        while (edges_[at].node != kNone) at = (at + 1) & (edges_.size() - 1);
        edges_[at] = edge;
    }
}

void Segmenter::find_likeliest(Work& work) const {
    const std::size_t size = work.block.size();
    work.scores.assign(size + 1, 0.0);
    work.ends.assign(size, 0);
    for (std::size_t start = size; start-- != 0;) {
        double best = -std::numeric_limits<double>::infinity();
        std::size_t best_end = 0;
        std::uint32_t node = kRoot;
        for (std::size_t at = start; at < size; ++at) {
            node = child(node, work.block[at].code);
            if (node == kNone) break;
            if (weights_[node] == 0) continue;
            const double score = weights_[node] + work.scores[at + 1];
            if (score >= best) {  // on ties, the longest word
                best = score;
                best_end = at + 1;
            }
        }
        if (best_end == 0) {
            best = unknown_word_ + work.scores[start + 1];
            best_end = start + 1;
        }
        work.scores[start] = best;
        work.ends[start] = static_cast<std::uint32_t>(best_end);
    }
}

bool Segmenter::is_word(const Work& work, std::size_t begin, std::size_t end) const {
    std::uint32_t node = kRoot;
    for (; begin < end && node != kNone; ++begin) node = child(node, work.block[begin].code);
    return node != kNone && weights_[node] < 0;
}

void Segmenter::guess(Work& work, std::size_t begin, std::size_t end) const {
    const auto emission = [&](std::size_t at) -> const Scores& {
        return emissions_[emission_of_[work.block[at].code]];
    };
    const auto [b_e, b_m, m_e, m_m, e_b, e_s, s_b, s_s] = moves_;
    const Scores& first = emission(begin);
    double b = starts_[0] + first[0], m = starts_[1] + first[1];
    double e = starts_[2] + first[2], s = starts_[3] + first[3];
    work.came_from.clear();
    for (std::size_t at = begin + 1; at < end; ++at) {
        const auto [to_b, to_m, to_e, to_s] = emission(at);
        // Added from left to right, as in jieba: another order could break ties differently. On
        // ties, jieba takes the last state in the alphabet.
        const double b_from_e = e + e_b + to_b, b_from_s = s + s_b + to_b;
        const double m_from_b = b + b_m + to_m, m_from_m = m + m_m + to_m;
        const double e_from_b = b + b_e + to_e, e_from_m = m + m_e + to_e;
        const double s_from_e = e + e_s + to_s, s_from_s = s + s_s + to_s;
        work.came_from.push_back(
            {b_from_e > b_from_s ? kEnd : kSingle, m_from_b > m_from_m ? kBegin : kMiddle,
             e_from_b > e_from_m ? kBegin : kMiddle, s_from_e > s_from_s ? kEnd : kSingle});
        b = b_from_e > b_from_s ? b_from_e : b_from_s;
        m = m_from_b > m_from_m ? m_from_b : m_from_m;
        e = e_from_b > e_from_m ? e_from_b : e_from_m;
        s = s_from_e > s_from_s ? s_from_e : s_from_s;
    }
    State state = e > s ? kEnd : kSingle;
    work.guessed.assign(1, static_cast<std::uint32_t>(end));
    for (std::size_t at = end - 1; at > begin; --at) {
        state = work.came_from[at - begin - 1][state];
        if (state == kEnd || state == kSingle)
            work.guessed.push_back(static_cast<std::uint32_t>(at));
    }
}

}  // namespace neardup
