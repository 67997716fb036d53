// The newest documents of an index, in memory: few, so that a query looks at all of them.
//
// A document is there from one revision of the index to another, so that readers of an earlier
// revision are not disturbed by a writer. Threads may read while one writes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <shared_mutex>
#include <unordered_map>
#include <vector>

#include "neardup/set_index/candidates.hpp"

namespace neardup {

class SetTail {
  public:
    explicit SetTail(const SetPlan& plan) : plan_(plan) {}

    // Numbers ascend over all calls.
    void add(const SetDocuments& documents, std::size_t place, std::uint64_t number,
             std::int64_t expires, std::uint64_t revision);
    // The same from stored bytes.
    void add(const StoredSet& stored, std::uint64_t number, std::int64_t expires,
             std::uint64_t revision);
    // Numbers that are not there are ignored.
    void remove(std::uint64_t number, std::uint64_t revision);
    // Undo what was done for a revision that was not committed.
    void undo(std::uint64_t revision);

    // Look at the documents from place `first` on, as of a revision; `skip` is left out.
    void search(SetComparer& comparer, const SetQuestion& question, std::uint64_t revision,
                std::uint64_t skip, std::size_t first, BestMatches& best) const;

    std::size_t size() const;
    const SetPlan& plan() const { return plan_; }

  private:
    static constexpr std::uint64_t kNever = ~std::uint64_t{0};

    struct Entry {
        std::uint64_t number, from, until;  // revisions
        std::int64_t expires;
        double mass;
        std::size_t size, features, bitmap;  // places in the lists below
        int log;
    };

    Entry entry(std::uint64_t number, std::int64_t expires, std::uint64_t revision) const;
    void put_set(Entry made, const std::uint32_t* features, std::size_t count);
    void put_weighted(Entry made, const DocumentView& set);

    struct Reading;
    struct Writing;

    SetPlan plan_;
    // Who waits to write closes the door to new readers: a shared mutex may let them in forever.
    mutable std::mutex door_;
    mutable std::shared_mutex lock_;
    std::vector<Entry> entries_;
    std::unordered_map<std::uint64_t, std::size_t> places_;
    std::vector<std::uint32_t> features_;
    std::vector<std::uint64_t> hashes_, bitmaps_;
    std::vector<double> weights_;
    ParityBitmap parity_;
    WeightedPairs pairs_;
    ReadSet read_;
};

}  // namespace neardup
