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

#include "dispatch.hpp"
#include "json_values.hpp"

namespace neardup {

// A growing array whose memory can be handed over.
template <typename T>
class Growing {
  public:
    // Make room for `more` values behind the last one; they count.
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

    // Give the values away, in memory made with new[]; the next ones, of which about as many are
    // expected, get memory of their own.
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

// A column as it is handed out. A string, a whole number, a fraction or a boolean lies in `data`
// from offsets[i] to offsets[i + 1], a string without quotes and escapes, anything else as it is
// spelt. Of a column of nulls there is no more to say. Values of kind other, or of several kinds,
// are spelt one after the other with a comma behind each, and null where an object has none.
struct JsonColumn {
    std::string name;
    JsonKind kind = JsonKind::null;
    Growing<std::uint8_t> data{};
    Growing<std::int64_t> offsets{};
};

// A column to look for. One that `must_be` of a kind is so in every object, none has one that
// `must_lack` it; any other may be of all kinds or lack.
struct JsonWanted {
    std::string name;
    std::optional<JsonKind> must_be;
    bool must_lack = false;
};

class JsonLines final : private JsonTaker {
  public:
    // With `every`, all other keys are columns too, in the order in which they come.
    JsonLines(std::vector<JsonWanted> wanted, bool every);

    // Add a block of lines, without the last one's line feed, and say how many they are. 0 if
    // something about them is unusual, or other than in the blocks before: then nothing is
    // changed, and if there were blocks before, it may be taken as the first one.
    std::size_t add(const std::uint8_t* block, std::size_t size, const Kernels& kernels);

    // How many objects were added since the columns were taken.
    std::size_t rows() const { return rows_; }

    // Give every column of the rows added to `hand`, which releases their memory; begin anew.
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
        unsigned kinds = 0;               // of these values, a bit for each

        void add(const JsonValue& value);
        JsonKind kind() const;
    };

    bool take(const std::uint8_t* key, std::size_t key_size, const JsonValue& value) override;
    void end_object() override;
    Column* find(std::string_view key);
    std::size_t scan(const std::uint8_t* block, std::size_t size, const Kernels& kernels);
    bool fits();
    void append(Column& column) const;
    void forget_columns(std::size_t first);

    std::size_t wanted_;  // how many columns are asked for by name; they come first
    bool every_;
    std::vector<Column> columns_;
    std::size_t rows_ = 0, block_rows_ = 0;
    std::size_t next_ = 0;  // the column that comes next if this object is like the last one
    std::unique_ptr<std::uint8_t[]> room_;
    std::size_t room_size_ = 0;
};

}  // namespace neardup
