// Blocks of JSON lines: every instruction set gives the same answer, and the answer is valid.
//
// The first byte holds settings; the rest is one or more blocks, with a byte 0xFF between them.
#include "neardup/json/lines.hpp"

#include <string>
#include <string_view>
#include <vector>

#include "harness.hpp"

namespace neardup::fuzz {

namespace {

struct Found {
    std::string name;
    JsonKind kind;
    std::string data;
    std::vector<std::int64_t> offsets;
    bool operator==(const Found&) const = default;
};

struct Answer {
    std::vector<std::size_t> lines;
    std::size_t rows = 0;
    std::vector<Found> columns;
    bool operator==(const Answer&) const = default;
};

struct Settings {
    std::vector<JsonWanted> wanted;
    bool every;
};

Settings settings_of(std::uint8_t byte) {
    static const std::vector<JsonWanted> choices[] = {
        {},
        {{"text", JsonKind::string}},
        {{"text", std::nullopt}, {"id", JsonKind::whole}},
        {{"text", JsonKind::string}, {"id", std::nullopt, true}},
    };
    return {choices[byte >> 1 & 3], (byte & 1) != 0};
}

std::vector<std::string_view> blocks_of(std::string_view rest) {
    std::vector<std::string_view> blocks;
    for (std::size_t end; (end = rest.find('\xFF')) != std::string_view::npos;) {
        blocks.push_back(rest.substr(0, end));
        rest.remove_prefix(end + 1);
    }
    blocks.push_back(rest);
    return blocks;
}

Answer read(const std::vector<std::string_view>& blocks, const Settings& settings,
            const JsonKernels& kernels) {
    JsonLines lines(settings.wanted, settings.every);
    Answer answer;
    for (const std::string_view block : blocks) {
        const auto memory =
            tight(reinterpret_cast<const std::uint8_t*>(block.data()), block.size());
        answer.lines.push_back(lines.add(memory.get(), block.size(), kernels));
    }
    answer.rows = lines.rows();
    lines.hand_out([&](JsonColumn& column) {
        const std::size_t size = column.data.size(), offsets = column.offsets.size();
        const std::unique_ptr<std::uint8_t[]> data(column.data.release());
        const std::unique_ptr<std::int64_t[]> ends(column.offsets.release());
        answer.columns.push_back({column.name,
                                  column.kind,
                                  {reinterpret_cast<const char*>(data.get()), size},
                                  {ends.get(), ends.get() + offsets}});
    });
    return answer;
}

bool all_digits(std::string_view spelt) {
    if (!spelt.empty() && spelt.front() == '-') spelt.remove_prefix(1);
    return !spelt.empty() && spelt.find_first_not_of("0123456789") == std::string_view::npos;
}

void require_sound(const Answer& answer, const JsonKernels& kernels) {
    for (const Found& column : answer.columns) {
        if (answer.rows == 0 || column.kind == JsonKind::null) {
            REQUIRE(column.data.empty());
            continue;
        }
        REQUIRE(column.offsets.size() == answer.rows + 1);
        REQUIRE(column.offsets.front() == 0);
        REQUIRE(column.offsets.back() == static_cast<std::int64_t>(column.data.size()));
        const auto* data = reinterpret_cast<const std::uint8_t*>(column.data.data());
        for (std::size_t i = 0; i < answer.rows; ++i) {
            REQUIRE(column.offsets[i] <= column.offsets[i + 1]);
            const std::string_view value(
                column.data.data() + column.offsets[i],
                static_cast<std::size_t>(column.offsets[i + 1] - column.offsets[i]));
            REQUIRE(kernels.is_utf8(data + column.offsets[i], value.size()));
            if (column.kind == JsonKind::whole) REQUIRE(all_digits(value));
            if (column.kind == JsonKind::boolean) REQUIRE(value == "true" || value == "false");
            if (column.kind == JsonKind::other) REQUIRE(value.size() > 1 && value.back() == ',');
        }
    }
}

// Blocks that were taken one after the other give what they give as one block.
void require_joinable(const std::vector<std::string_view>& blocks, const Settings& settings,
                      const Answer& answer, const JsonKernels& kernels) {
    std::string joined;
    std::size_t lines = 0;
    for (std::size_t i = 0; i < blocks.size(); ++i) {
        if (answer.lines[i] == 0) return;
        if (i != 0) joined += '\n';
        joined += blocks[i];
        lines += answer.lines[i];
    }
    Answer together = read({joined}, settings, kernels);
    REQUIRE(together.lines == std::vector<std::size_t>{lines});
    REQUIRE(together.rows == answer.rows);
    REQUIRE(together.columns == answer.columns);
}

}  // namespace

void fuzz_json_lines(const std::uint8_t* data, std::size_t size) {
    Tape tape(data, size);
    const Settings settings = settings_of(tape.byte());
    const std::vector<std::string_view> blocks =
        blocks_of({reinterpret_cast<const char*>(tape.rest()), tape.size()});
    const Answer first = read(blocks, settings, json_kernels_for("portable"));
    for (const std::string& isa : other_isas())
        REQUIRE(read(blocks, settings, json_kernels_for(isa)) == first);
    require_sound(first, json_kernels_for("portable"));
    if (blocks.size() > 1) require_joinable(blocks, settings, first, json_kernels_for("auto"));
}

}  // namespace neardup::fuzz
