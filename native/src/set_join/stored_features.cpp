#include "neardup/set_join/stored_features.hpp"

#include <algorithm>
#include <system_error>

#include "neardup/open_file.hpp"

namespace neardup {

namespace {

constexpr std::size_t kReadAhead = 1 << 20;

// Read `least` bytes or more, up to `most`, as far as the file goes.
std::size_t read_file(int file, std::uint64_t at, std::size_t least, std::size_t most, char* to) {
    std::size_t done = 0;
    while (done < least) {
        const std::size_t got = read_some(file, at + done, most - done, to + done);
        if (got == 0)
            throw std::system_error(std::make_error_code(std::errc::io_error),
                                    "the temporary file of features is too short");
        done += got;
    }
    return done;
}

}  // namespace

const StoredFeatures::Part& StoredFeatures::part_of(std::size_t place) const {
    const auto after = std::upper_bound(
        parts_.begin(), parts_.end(), place,
        [](std::size_t one, const Part& part) { return one < part.first + part.count; });
    return *after;
}

std::size_t StoredFeatures::size(std::size_t place) const {
    const Part& part = part_of(place);
    const std::int64_t* offsets = part.offsets + (place - part.first);
    return static_cast<std::size_t>(offsets[1] - offsets[0]);
}

const void* FeatureReader::Window::read(int file, std::uint64_t at, std::size_t bytes) {
    const bool goes_on = file == file_ && at == last_;
    if (file != file_ || at < at_ || at + bytes > at_ + bytes_) {
        const std::size_t most = goes_on ? std::max(bytes, kReadAhead) : bytes;
        bytes_ = 0;
        char* to = reinterpret_cast<char*>(room_.reserve(most / 8 + 1));
        bytes_ = read_file(file, at, bytes, most, to);
        file_ = file;
        at_ = at;
    }
    last_ = at + bytes;
    return reinterpret_cast<const char*>(room_.data()) + (at - at_);
}

DocumentView FeatureReader::read(std::size_t place) {
    const StoredFeatures::Part& part = stored_->part_of(place);
    const std::int64_t* offsets = part.offsets + (place - part.first);
    const auto first = static_cast<std::size_t>(offsets[0]),
               size = static_cast<std::size_t>(offsets[1]) - first;
    if (part.hashes != nullptr)
        return {part.hashes + first, stored_->weighted() ? part.weights + first : nullptr, size};
    const auto* hashes = static_cast<const std::uint64_t*>(
        hashes_.read(part.file, part.hashes_at + first * 8, size * 8));
    if (!stored_->weighted()) return {hashes, nullptr, size};
    const auto* weights =
        static_cast<const double*>(weights_.read(part.file, part.weights_at + first * 8, size * 8));
    return {hashes, weights, size};
}

}  // namespace neardup
