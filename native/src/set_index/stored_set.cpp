#include "neardup/set_index/stored_set.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <stdexcept>

namespace neardup {

namespace {

constexpr const char* kWrong = "the features of a document are not as they were written";
constexpr std::size_t kHead = 4;
enum class Form : std::uint32_t { plain, bytes_3, bytes_2, weighted };

// Below and above these numbers of features, another form is shorter.
constexpr std::size_t kFewest = 40, kMost = 9000;

Form form_of(std::size_t features) {
    if (features < kFewest) return Form::plain;
    return features <= kMost ? Form::bytes_3 : Form::bytes_2;
}

// Of the bits of a feature, how many are in unary; the others are whole bytes.
unsigned leading_bits(Form form) { return form == Form::bytes_3 ? 8 : 16; }

std::size_t unary_bytes(Form form, std::size_t features) {
    return (features + (std::size_t{1} << leading_bits(form)) + 7) / 8;
}

std::size_t body_bytes(Form form, std::size_t features) {
    switch (form) {
        case Form::plain: return 4 * features;
        case Form::weighted: return 16 * features;
        default: return unary_bytes(form, features) + (32 - leading_bits(form)) / 8 * features;
    }
}

void write_head(Form form, std::size_t features, std::uint8_t* to) {
    const auto head = static_cast<std::uint32_t>(features) | static_cast<std::uint32_t>(form) << 30;
    std::memcpy(to, &head, kHead);
}

struct Head {
    Form form;
    std::size_t features;
};

Head head_of(const StoredSet& stored) {
    std::uint32_t head;
    if (stored.size < kHead) throw std::invalid_argument("the features of a document are cut off");
    std::memcpy(&head, stored.data, kHead);
    const Head found = {static_cast<Form>(head >> 30), head & kMostFeatures};
    if (stored.size - kHead != body_bytes(found.form, found.features))
        throw std::invalid_argument("the features of a document are cut off");
    return found;
}

template <unsigned kRest>
void write_parts(const std::uint32_t* features, std::size_t count, std::uint8_t* unary,
                 std::uint8_t* rest) {
    for (std::size_t i = 0; i < count; ++i, rest += kRest / 8) {
        const std::size_t at = i + (features[i] >> kRest);
        unary[at / 8] |= static_cast<std::uint8_t>(1U << at % 8);
        std::memcpy(rest, &features[i], kRest / 8);
    }
}

// Read `count` features, or throw where there are not as many bits.
template <unsigned kRest>
void read_parts(const std::uint8_t* unary, std::size_t unary_size, const std::uint8_t* rest,
                std::size_t count, std::uint32_t* to) {
    std::size_t made = 0;
    for (std::size_t begin = 0; begin < unary_size; begin += 8) {
        std::uint64_t bits = 0;
        std::memcpy(&bits, unary + begin, std::min<std::size_t>(8, unary_size - begin));
        const auto many = static_cast<std::size_t>(std::popcount(bits));
        if (many > count - made) throw std::invalid_argument(kWrong);
        for (; bits != 0; bits &= bits - 1, ++made, rest += kRest / 8) {
            const std::size_t at = begin * 8 + static_cast<std::size_t>(std::countr_zero(bits));
            std::uint32_t low = 0;
            std::memcpy(&low, rest, kRest / 8);
            to[made] = static_cast<std::uint32_t>(at - made) << kRest | low;
        }
    }
    if (made != count) throw std::invalid_argument(kWrong);
}

}  // namespace

std::size_t stored_bytes(std::size_t features, bool weighted) {
    return kHead + body_bytes(weighted ? Form::weighted : form_of(features), features);
}

void store_set(const std::uint32_t* features, std::size_t count, std::uint8_t* to) {
    const Form form = form_of(count);
    write_head(form, count, to);
    to += kHead;
    if (form == Form::plain) {
        if (count != 0) std::memcpy(to, features, 4 * count);
        return;
    }
    const std::size_t unary = unary_bytes(form, count);
    std::memset(to, 0, unary);
    if (form == Form::bytes_3)
        write_parts<24>(features, count, to, to + unary);
    else
        write_parts<16>(features, count, to, to + unary);
}

void store_weighted_set(const DocumentView& set, std::uint8_t* to) {
    write_head(Form::weighted, set.size, to);
    if (set.size == 0) return;
    std::memcpy(to + kHead, set.hashes, 8 * set.size);
    std::memcpy(to + kHead + 8 * set.size, set.weights, 8 * set.size);
}

std::size_t features_in(const StoredSet& stored) { return head_of(stored).features; }

void ReadSet::read(const StoredSet& stored) {
    const auto [form, count] = head_of(stored);
    const std::uint8_t* body = stored.data + kHead;
    size_ = count;
    weighted_ = form == Form::weighted;
    if (weighted_) {
        hashes_.resize(count);
        weights_.resize(count);
        if (count == 0) return;
        std::memcpy(hashes_.data(), body, 8 * count);
        std::memcpy(weights_.data(), body + 8 * count, 8 * count);
        if (!std::all_of(weights_.begin(), weights_.end(), is_weight))
            throw std::invalid_argument(kWrong);
        return;
    }
    features_.resize(count);
    if (form == Form::plain) {
        if (count != 0) std::memcpy(features_.data(), body, 4 * count);
        return;
    }
    const std::size_t unary = unary_bytes(form, count);
    if (form == Form::bytes_3)
        read_parts<24>(body, unary, body + unary, count, features_.data());
    else
        read_parts<16>(body, unary, body + unary, count, features_.data());
}

}  // namespace neardup
