// JSON lines as columns: blocks of lines go in, columns come out.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "neardup/json/kernels.hpp"

namespace neardup {

// A growing array whose memory can be handed to NumPy.
template <typename T>
class Growing {
  public:
    // Append `more` uninitialised values and return where they begin.
    T* extend(std::size_t more) {
        if (size_ + more > capacity_) {
            const std::size_t wanted = std::max(size_ + more + size_ / 2, expected_);
            auto grown = std::make_unique_for_overwrite<T[]>(wanted);
            std::copy_n(values_.get(), size_, grown.get());
            values_ = std::move(grown);
            capacity_ = wanted;
        }
        T* const added = values_.get() + size_;
        size_ += more;
        return added;
    }

    std::size_t size() const { return size_; }

    // Transfer ownership of the values, in memory made with new[]. The next values get new memory;
    // about as many are expected.
    T* release() {
        if (values_ == nullptr) values_ = std::make_unique_for_overwrite<T[]>(0);
        expected_ = size_ + size_ / 16;
        size_ = capacity_ = 0;
        return values_.release();
    }

  private:
    std::unique_ptr<T[]> values_;
    std::size_t size_ = 0, capacity_ = 0, expected_ = 0;
};

// A finished column. Value i lies in `data` from offsets[i] to offsets[i + 1]: strings unquoted and
// unescaped, whole numbers, fractions and booleans as written. A column of nulls has no data.
// Values of kind other, or of several kinds, are written as in the input, each followed by a comma,
// with null where an object lacks the key.
struct JsonColumn {
    std::string name;
    JsonKind kind = JsonKind::null;
    Growing<std::uint8_t> data{};
    Growing<std::int64_t> offsets{};
};

// A column to look for. With `must_be`, every object must have it with that kind; with `must_lack`,
// no object may have it. Without either, values of any kind are accepted, and objects without one.
struct JsonWanted {
    std::string name;
    std::optional<JsonKind> must_be;
    bool must_lack = false;
};

class JsonLines final : private JsonTaker {
  public:
    // With `every`, all other keys become columns too, in order of appearance.
    JsonLines(std::vector<JsonWanted> wanted, bool every);

    // Add a block of lines, without the final line feed. Returns the number of lines, or 0 if the
    // block is unusual or differs from the blocks before. Then nothing has changed, and a block
    // that only differs can be added as the first one after `hand_out`.
    std::size_t add(const std::uint8_t* block, std::size_t size, const JsonKernels& kernels);

    // The number of objects added since the columns were last handed out.
    std::size_t rows() const { return rows_; }

    // Pass every column to `hand`, which takes over its memory; then start over.
    template <typename Hand>
    void hand_out(const Hand& hand) {
        for (Column& column : columns_)
            if (!column.must_lack) hand(column.held);
        forget_columns(wanted_);
        rows_ = 0;
    }

  private:
    struct Column {
        JsonColumn held;
        std::optional<JsonKind> must_be;
        bool must_lack;
        std::vector<JsonValue> values{};  // of the block that is being added
        unsigned kinds = 0;               // a bit for each kind among them

        void add(const JsonValue& value);
        JsonKind kind() const;
    };

    bool take(const std::uint8_t* key, std::size_t key_size, const JsonValue& value) override;
    void end_object() override;
    Column* find(std::string_view key);
    std::size_t scan(const std::uint8_t* block, std::size_t size, const JsonKernels& kernels);
    bool fits();
    void append(Column& column) const;
    void forget_columns(std::size_t first);

    std::size_t wanted_;  // the number of columns asked for by name; they come first
    bool every_;
    std::vector<Column> columns_;
    std::size_t rows_ = 0, block_rows_ = 0;
    std::size_t next_ = 0;  // the expected next column, if this object is like the last one
    std::unique_ptr<std::uint8_t[]> room_;
    std::size_t room_size_ = 0;
};

}  // namespace neardup
