// The features of whole collections, in parts: in memory, or in a file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "neardup/buffer.hpp"
#include "neardup/set_join/pair.hpp"

namespace neardup {

// Documents are numbered through all parts. The arrays belong to the caller, who keeps them.
class StoredFeatures {
  public:
    // Document i of a part has the features offsets[i] … offsets[i + 1]. Where `hashes` is null
    // they are in the file, from these bytes on; weights too, if the documents have any.
    struct Part {
        const std::int64_t* offsets;
        std::size_t count;
        const std::uint64_t* hashes;
        const double* weights;
        int file;
        std::uint64_t hashes_at, weights_at;
        std::size_t first;  // the number of its first document
    };

    explicit StoredFeatures(bool weighted) : weighted_(weighted) {}

    void add(Part part) {
        part.first = count_;
        parts_.push_back(part);
        count_ += part.count;
    }

    std::size_t count() const { return count_; }
    bool weighted() const { return weighted_; }
    std::size_t size(std::size_t place) const;
    const Part& part_of(std::size_t place) const;

  private:
    bool weighted_;
    std::vector<Part> parts_;
    std::size_t count_ = 0;
};

// Reads documents; each thread has its own.
class FeatureReader {
  public:
    explicit FeatureReader(const StoredFeatures& stored) : stored_(&stored) {}

    // The features of a document, until the next call.
    DocumentView read(std::size_t place);

    // Whether they are in memory, and so stay.
    bool in_memory(std::size_t place) const { return stored_->part_of(place).hashes != nullptr; }

  private:
    // A piece of a file. Reading goes on ahead while one document follows the other.
    class Window {
      public:
        const void* read(int file, std::uint64_t at, std::size_t bytes);

      private:
        portable::Buffer<std::uint64_t> room_;
        int file_ = -1;
        std::uint64_t at_ = 0, last_ = 0;
        std::size_t bytes_ = 0;
    };

    const StoredFeatures* stored_;
    Window hashes_, weights_;
};

}  // namespace neardup
