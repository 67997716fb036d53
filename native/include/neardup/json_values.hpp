// What a scan of JSON lines finds, and who takes it.
#pragma once

#include <cstddef>
#include <cstdint>

namespace neardup {

// Whole numbers are those that 64 bits with a sign can hold; other is an array, an object or a
// whole number beyond.
enum class JsonKind : std::uint8_t { null, boolean, whole, fraction, string, other };

// One value of a block of lines: as it is spelt there, and what a string says once its escapes
// are undone.
struct JsonValue {
    const std::uint8_t* spelt;
    const std::uint8_t* text;
    std::uint32_t spelt_size, text_size;
    JsonKind kind;
};

// Takes what the objects of a block hold, in order; false stops the scan.
struct JsonTaker {
    virtual bool take(const std::uint8_t* key, std::size_t key_size, const JsonValue& value) = 0;
    virtual void end_object() = 0;

  protected:
    ~JsonTaker() = default;
};

}  // namespace neardup
