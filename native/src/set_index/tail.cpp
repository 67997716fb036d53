#include "neardup/set_index/tail.hpp"

#include <mutex>

namespace neardup {

struct SetTail::Reading {
    std::shared_lock<std::shared_mutex> hold;

    explicit Reading(const SetTail& tail) {
        const std::lock_guard<std::mutex> wait(tail.door_);
        hold = std::shared_lock<std::shared_mutex>(tail.lock_);
    }
};

struct SetTail::Writing {
    std::lock_guard<std::mutex> closed;
    std::unique_lock<std::shared_mutex> hold;

    explicit Writing(const SetTail& tail) : closed(tail.door_), hold(tail.lock_) {}
};

SetTail::Entry SetTail::entry(std::uint64_t number, std::int64_t expires,
                              std::uint64_t revision) const {
    return {number, revision, kNever, expires, 0, 0, 0, 0, 0};
}

void SetTail::add(const SetDocuments& documents, std::size_t place, std::uint64_t number,
                  std::int64_t expires, std::uint64_t revision) {
    if (documents.plan().weighted != plan_.weighted)
        throw std::invalid_argument("documents were made for another plan");
    const IndexedSet set = documents.at(place);
    const Writing hold(*this);
    if (plan_.weighted)
        put_weighted(entry(number, expires, revision), set.weighted);
    else
        put_set(entry(number, expires, revision), set.features, set.size);
}

void SetTail::add(const StoredSet& stored, std::uint64_t number, std::int64_t expires,
                  std::uint64_t revision) {
    const Writing hold(*this);
    read_.read(stored);
    if (read_.weighted() != plan_.weighted)
        throw std::invalid_argument("the features of a document are not as they were written");
    if (plan_.weighted)
        put_weighted(entry(number, expires, revision), read_.view());
    else
        put_set(entry(number, expires, revision), read_.features(), read_.size());
}

void SetTail::put_set(Entry made, const std::uint32_t* features, std::size_t count) {
    set_parity(features, count, parity_);
    made.size = count;
    made.mass = static_cast<double>(count);
    made.features = features_.size();
    made.log = parity_.log();
    made.bitmap = bitmaps_.size();
    features_.insert(features_.end(), features, features + count);
    const std::uint64_t* bitmap = parity_.of_log(made.log);
    bitmaps_.insert(bitmaps_.end(), bitmap, bitmap + (std::size_t{1} << made.log));
    places_[made.number] = entries_.size();
    entries_.push_back(made);
}

void SetTail::put_weighted(Entry made, const DocumentView& set) {
    made.size = set.size;
    made.mass = mass_of(plan_, set, pairs_);
    made.features = hashes_.size();
    hashes_.insert(hashes_.end(), set.hashes, set.hashes + set.size);
    weights_.insert(weights_.end(), set.weights, set.weights + set.size);
    places_[made.number] = entries_.size();
    entries_.push_back(made);
}

void SetTail::remove(std::uint64_t number, std::uint64_t revision) {
    const Writing hold(*this);
    const auto found = places_.find(number);
    if (found == places_.end()) return;
    Entry& entry = entries_[found->second];
    if (entry.until == kNever) entry.until = revision;
}

void SetTail::undo(std::uint64_t revision) {
    const Writing hold(*this);
    while (!entries_.empty() && entries_.back().from == revision) {
        const Entry& last = entries_.back();
        places_.erase(last.number);
        if (plan_.weighted) {
            hashes_.resize(last.features);
            weights_.resize(last.features);
        } else {
            features_.resize(last.features);
            bitmaps_.resize(last.bitmap);
        }
        entries_.pop_back();
    }
    for (Entry& entry : entries_)
        if (entry.until == revision) entry.until = kNever;
}

void SetTail::search(SetComparer& comparer, const SetQuestion& question, std::uint64_t revision,
                     std::uint64_t skip, std::size_t first, BestMatches& best) const {
    const Reading hold(*this);
    const double least = comparer.least_mass(), most = comparer.most_mass();
    for (std::size_t i = first; i < entries_.size(); ++i) {
        const Entry& entry = entries_[i];
        if (entry.from > revision) break;
        if (entry.mass < least || entry.mass > most || entry.until <= revision ||
            entry.expires <= question.now || entry.number == skip || entry.size == 0)
            continue;
        double similarity;
        if (plan_.weighted) {
            similarity = comparer.similarity(DocumentView(
                hashes_.data() + entry.features, weights_.data() + entry.features, entry.size));
        } else {
            const double bound =
                comparer.most_similar(entry.size, bitmaps_.data() + entry.bitmap, entry.log);
            if (bound < question.threshold || !best.wants(bound)) continue;
            similarity = comparer.similarity(features_.data() + entry.features, entry.size);
        }
        if (similarity >= question.threshold) best.add({similarity, entry.number});
    }
}

std::size_t SetTail::size() const {
    const Reading hold(*this);
    return entries_.size();
}

}  // namespace neardup
