#include "neardup/json/lines.hpp"

#include <bit>
#include <cstring>
#include <limits>
#include <utility>

namespace neardup {

namespace {

// Objects with more keys than this are not rows of a table. Keys are searched one by one.
constexpr std::size_t kMostColumns = 256;
constexpr std::uint8_t kNullLetters[] = {'n', 'u', 'l', 'l'};
constexpr JsonValue kMissing = {kNullLetters, nullptr, sizeof kNullLetters, 0, JsonKind::null};

constexpr unsigned bit_of(JsonKind kind) { return 1U << static_cast<unsigned>(kind); }

// The bytes of a value as a column of this kind holds them.
std::string_view held_bytes(const JsonValue& value, JsonKind kind) {
    const bool text = kind == JsonKind::string;
    return {reinterpret_cast<const char*>(text ? value.text : value.spelt),
            text ? value.text_size : value.spelt_size};
}

}  // namespace

void JsonLines::Column::add(const JsonValue& value) {
    values.push_back(value);
    kinds |= bit_of(value.kind);
}

JsonKind JsonLines::Column::kind() const {
    return std::has_single_bit(kinds) ? static_cast<JsonKind>(std::countr_zero(kinds))
                                      : JsonKind::other;
}

JsonLines::JsonLines(std::vector<JsonWanted> wanted, bool every)
    : wanted_(wanted.size()), every_(every) {
    for (JsonWanted& column : wanted)
        columns_.push_back({{.name = std::move(column.name)}, column.must_be, column.must_lack});
}

std::size_t JsonLines::add(const std::uint8_t* block, std::size_t size,
                           const JsonKernels& kernels) {
    const std::size_t known = columns_.size();
    block_rows_ = 0;
    const std::size_t lines = scan(block, size, kernels);
    // A column that is new in this block belongs to this block alone.
    const bool alike = lines != 0 && (rows_ == 0 || columns_.size() == known) && fits();
    if (alike && block_rows_ != 0) {
        for (Column& column : columns_)
            if (!column.must_lack) append(column);
        rows_ += block_rows_;
    }
    if (!alike) forget_columns(known);
    for (Column& column : columns_) {
        column.values.clear();
        column.kinds = 0;
    }
    return alike ? lines : 0;
}

std::size_t JsonLines::scan(const std::uint8_t* block, std::size_t size,
                            const JsonKernels& kernels) {
    if (size > std::numeric_limits<std::uint32_t>::max()) return 0;
    if (size > room_size_) {
        room_ = std::make_unique_for_overwrite<std::uint8_t[]>(size);
        room_size_ = size;
    }
    if (!kernels.is_utf8(block, size)) return 0;
    return kernels.scan_lines(block, size, room_.get(), *this);
}

bool JsonLines::take(const std::uint8_t* key, std::size_t key_size, const JsonValue& value) {
    Column* const column = find({reinterpret_cast<const char*>(key), key_size});
    if (column == nullptr) return !every_;
    // A key that stands twice in an object has as many values already as there are objects.
    if (column->must_lack || column->values.size() > block_rows_) return false;
    while (column->values.size() < block_rows_) column->add(kMissing);
    column->add(value);
    return true;
}

JsonLines::Column* JsonLines::find(std::string_view key) {
    if (next_ < columns_.size() && columns_[next_].held.name == key) return &columns_[next_++];
    for (std::size_t i = 0; i < columns_.size(); ++i) {
        if (columns_[i].held.name != key) continue;
        next_ = i + 1;
        return &columns_[i];
    }
    if (!every_ || columns_.size() == kMostColumns) return nullptr;
    columns_.push_back({{.name = std::string(key)}, std::nullopt, false});
    next_ = columns_.size();
    return &columns_.back();
}

void JsonLines::forget_columns(std::size_t first) {
    columns_.erase(columns_.begin() + static_cast<std::ptrdiff_t>(first), columns_.end());
}

void JsonLines::end_object() { ++block_rows_; }

// Complete the columns; returns whether they are of the required kinds and match earlier blocks.
bool JsonLines::fits() {
    if (block_rows_ == 0) return true;
    for (Column& column : columns_) {
        if (column.must_lack) continue;
        while (column.values.size() < block_rows_) column.add(kMissing);
        if (column.must_be && column.kinds != bit_of(*column.must_be)) return false;
        if (rows_ != 0 && column.kind() != column.held.kind) return false;
    }
    return true;
}

void JsonLines::append(Column& column) const {
    JsonColumn& held = column.held;
    held.kind = column.kind();
    if (held.kind == JsonKind::null) return;
    const bool separated = held.kind == JsonKind::other;
    std::size_t total = separated ? column.values.size() : 0;
    for (const JsonValue& value : column.values) total += held_bytes(value, held.kind).size();
    if (held.offsets.size() == 0) *held.offsets.extend(1) = 0;
    auto end = static_cast<std::int64_t>(held.data.size());
    std::uint8_t* to = held.data.extend(total);
    std::int64_t* offset = held.offsets.extend(column.values.size());
    for (const JsonValue& value : column.values) {
        const std::string_view bytes = held_bytes(value, held.kind);
        if (!bytes.empty()) std::memcpy(to, bytes.data(), bytes.size());
        to += bytes.size();
        if (separated) *to++ = ',';
        end += static_cast<std::int64_t>(bytes.size()) + separated;
        *offset++ = end;
    }
}

}  // namespace neardup
