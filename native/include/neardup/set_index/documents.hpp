// Documents made ready to be stored in an index of sets, and to be looked up in it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "neardup/set_index/plan.hpp"
#include "neardup/set_index/stored_set.hpp"
#include "neardup/set_join/pair.hpp"
#include "neardup/set_join/parity.hpp"

namespace neardup {

// One or two bits for each feature: enough to tell sets apart that share four fifths from those
// that share three.
int index_parity_log(std::size_t features);

// One document as a query needs it. Of `features` and `weighted`, a plan uses one.
struct IndexedSet {
    const std::uint32_t* features;
    DocumentView weighted;
    std::size_t size;
    double mass;    // its size, the sum of its weights, or of their squares
    double square;  // of weights, for the cosine
    const ParityBitmap* parity;
    const std::uint32_t* bands;
};

class SetDocuments {
  public:
    // Features are ascending within a document; they are copied.
    SetDocuments(const SetPlan& plan, const FeatureColumn& documents, std::size_t threads);

    std::size_t size() const { return offsets_.size() - 1; }
    const SetPlan& plan() const { return plan_; }
    IndexedSet at(std::size_t place) const;

    std::size_t stored_bytes(std::size_t place) const {
        return neardup::stored_bytes(features_in(place), plan_.weighted);
    }
    void store(std::size_t place, std::uint8_t* to) const;

  private:
    std::size_t features_in(std::size_t place) const {
        return offsets_[place + 1] - offsets_[place];
    }

    SetPlan plan_;
    std::vector<std::size_t> offsets_;
    std::vector<std::uint32_t> features_;
    std::vector<std::uint64_t> hashes_;
    std::vector<double> weights_, masses_;
    std::vector<ParityBitmap> parities_;
    std::vector<std::uint32_t> bands_;
};

// The mass of a weighted document.
double mass_of(const SetPlan& plan, const DocumentView& document, WeightedPairs& pairs);

// The bitmap of a set without weights, from its short features.
void set_parity(const std::uint32_t* features, std::size_t count, ParityBitmap& bitmap);

}  // namespace neardup
