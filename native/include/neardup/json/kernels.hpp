// The scan of JSON lines as compiled for each instruction set, and what it finds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "neardup/isa.hpp"

namespace neardup {

// `whole` is an integer that fits 64 bits with a sign; `other` is an array, an object or a larger
// integer.
enum class JsonKind : std::uint8_t { null, boolean, whole, fraction, string, other };

// One value of a block of lines: its bytes as written, and for a string its unescaped text.
struct JsonValue {
    const std::uint8_t* spelt;
    const std::uint8_t* text;
    std::uint32_t spelt_size, text_size;
    JsonKind kind;
};

// Receives the keys and values of a block in order; false stops the scan.
struct JsonTaker {
    virtual bool take(const std::uint8_t* key, std::size_t key_size, const JsonValue& value) = 0;
    virtual void end_object() = 0;

  protected:
    ~JsonTaker() = default;
};

struct JsonKernels {
    // Whether bytes are well-formed UTF-8.
    bool (*is_utf8)(const std::uint8_t* text, std::size_t size);
    // Pass the keys and values of a block of lines to a taker. Returns the number of lines, or 0 if
    // something is unusual. The block is UTF-8. `room` is as large and holds unescaped strings.
    std::size_t (*scan_lines)(const std::uint8_t* block, std::size_t size, std::uint8_t* room,
                              JsonTaker&);
};

NEARDUP_IN_EVERY_ISA(extern const JsonKernels json_kernels;)

// The kernels for an instruction set by name, or the fastest ones for "auto".
const JsonKernels& json_kernels_for(const std::string& isa);

}  // namespace neardup
