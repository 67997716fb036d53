// Lines of JSON objects → their keys and values, each validated.
//
// Everything accepted here is accepted by every strict parser. What is refused may still be valid
// and is left to a slower parser: deep nesting, keys with escapes, numbers near the range of a
// double.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "neardup/isa.hpp"
#include "neardup/json/kernels.hpp"
#include "neardup/json/string.hpp"

namespace neardup::NEARDUP_ISA {

class JsonScanner {
  public:
    // `room`, of `size` bytes, is for what the strings with escapes say.
    JsonScanner(const std::uint8_t* block, std::size_t size, std::uint8_t* room, JsonTaker& taker)
        : at_(block), end_(block + size), room_(room), taker_(taker) {}

    // The number of lines, if each is blank or one valid object that the taker accepted; else 0.
    std::size_t run() {
        for (std::size_t lines = 1;; ++lines, ++at_) {
            skip_space();
            if (!at_line_end()) {
                if (*at_ != '{' || !object<true>(0)) return 0;
                taker_.end_object();
                skip_space();
                if (!at_line_end()) return 0;
            }
            if (at_ == end_) return lines;
        }
    }

  private:
    static constexpr int kMostDepth = 64;
    // Numbers of at most this many characters with such an exponent are finite doubles. A negative
    // one can only lead to zero.
    static constexpr std::ptrdiff_t kMostNumber = 40;
    static constexpr int kMostExponent = 250;
    static constexpr int kMostDivisor = 400;

    // White space within a line.
    NEARDUP_INLINE void skip_space() {
        while (at_ != end_ && (*at_ == ' ' || *at_ == '\t' || *at_ == '\r')) ++at_;
    }

    NEARDUP_INLINE bool at_line_end() const { return at_ == end_ || *at_ == '\n'; }

    NEARDUP_INLINE bool take_byte(char byte) {
        if (at_ == end_ || *at_ != static_cast<std::uint8_t>(byte)) return false;
        ++at_;
        return true;
    }

    // From the opening brace to behind the closing one; the outermost is handed to the taker.
    template <bool kOutermost>
    bool object(int depth) {
        ++at_;
        skip_space();
        if (take_byte('}')) return true;
        do {
            skip_space();
            JsonValue key, value;
            if (at_ == end_ || *at_ != '"' || !string(key)) return false;
            // Without its escapes the key might be the same as another.
            if (kOutermost && key.text != key.spelt + 1) return false;
            skip_space();
            if (!take_byte(':')) return false;
            skip_space();
            if (!this->value(value, depth + 1)) return false;
            if (kOutermost && !taker_.take(key.text, key.text_size, value)) return false;
            skip_space();
        } while (take_byte(','));
        return take_byte('}');
    }

    bool array(int depth) {
        ++at_;
        skip_space();
        if (take_byte(']')) return true;
        do {
            skip_space();
            JsonValue value;
            if (!this->value(value, depth + 1)) return false;
            skip_space();
        } while (take_byte(','));
        return take_byte(']');
    }

    NEARDUP_INLINE bool value(JsonValue& found, int depth) {
        if (at_ == end_) return false;
        const std::uint8_t* const start = at_;
        if (*start == '"') return string(found);
        if (!other_value(found, depth)) return false;
        found.spelt = start;
        found.spelt_size = static_cast<std::uint32_t>(at_ - start);
        found.text = nullptr;
        found.text_size = 0;
        return true;
    }

    bool other_value(JsonValue& found, int depth) {
        switch (*at_) {
            case '{':
                found.kind = JsonKind::other;
                return depth < kMostDepth && object<false>(depth);
            case '[': found.kind = JsonKind::other; return depth < kMostDepth && array(depth);
            case 't': found.kind = JsonKind::boolean; return word("true");
            case 'f': found.kind = JsonKind::boolean; return word("false");
            case 'n': found.kind = JsonKind::null; return word("null");
            default: return number(found);
        }
    }

    template <std::size_t kSize>
    NEARDUP_INLINE bool word(const char (&letters)[kSize]) {
        constexpr std::ptrdiff_t size = kSize - 1;
        if (end_ - at_ < size || std::memcmp(at_, letters, size) != 0) return false;
        at_ += size;
        return true;
    }

    NEARDUP_INLINE bool string(JsonValue& found) {
        const std::uint8_t* const start = at_;
        const std::uint8_t* quote = skip_plain(start + 1, end_);
        if (quote == end_) return false;
        found.text = start + 1;
        auto size = static_cast<std::size_t>(quote - found.text);
        if (*quote == '\\') {
            std::memcpy(room_, found.text, size);
            const Unescaped rest = JsonUnescape::run(quote, end_, room_ + size);
            if (rest.quote == nullptr) return false;
            found.text = room_;
            quote = rest.quote;
            size += rest.size;
            room_ += size;
        } else if (*quote != '"') {
            return false;
        }
        at_ = quote + 1;
        found.spelt = start;
        found.spelt_size = static_cast<std::uint32_t>(at_ - start);
        found.text_size = static_cast<std::uint32_t>(size);
        found.kind = JsonKind::string;
        return true;
    }

    NEARDUP_INLINE std::ptrdiff_t skip_digits() {
        const std::uint8_t* const start = at_;
        while (at_ != end_ && *at_ >= '0' && *at_ <= '9') ++at_;
        return at_ - start;
    }

    bool number(JsonValue& found) {
        const std::uint8_t* const start = at_;
        take_byte('-');
        const std::uint8_t* const first = at_;
        const std::ptrdiff_t digits = skip_digits();
        if (digits == 0 || (digits > 1 && *first == '0')) return false;
        found.kind = fits(first, digits) ? JsonKind::whole : JsonKind::other;
        if (take_byte('.')) {
            found.kind = JsonKind::fraction;
            if (skip_digits() == 0) return false;
        }
        if (take_byte('e') || take_byte('E')) {
            found.kind = JsonKind::fraction;
            const bool small = take_byte('-');
            if (!small) take_byte('+');
            if (!exponent(small ? kMostDivisor : kMostExponent)) return false;
        }
        return at_ - start <= kMostNumber;
    }

    // Whether the number of these digits is one of 64 bits, with either sign.
    static NEARDUP_INLINE bool fits(const std::uint8_t* first, std::ptrdiff_t digits) {
        constexpr char largest[] = "9223372036854775807";
        constexpr std::ptrdiff_t most = sizeof largest - 1;
        return digits < most || (digits == most && std::memcmp(first, largest, most) <= 0);
    }

    NEARDUP_INLINE bool exponent(int most) {
        const std::uint8_t* digit = at_;
        const std::ptrdiff_t digits = skip_digits();
        if (digits == 0 || digits > 3) return false;
        int value = 0;
        for (; digit != at_; ++digit) value = 10 * value + (*digit - '0');
        return value <= most;
    }

    const std::uint8_t* at_;
    const std::uint8_t* const end_;
    std::uint8_t* room_;
    JsonTaker& taker_;
};

inline std::size_t scan_json_lines(const std::uint8_t* block, std::size_t size, std::uint8_t* room,
                                   JsonTaker& taker) {
    return JsonScanner(block, size, room, taker).run();
}

}  // namespace neardup::NEARDUP_ISA
