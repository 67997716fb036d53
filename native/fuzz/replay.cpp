// Replays the stored inputs with any compiler: each folder of the corpus is named after the harness
// that reads its files.
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "harness.hpp"

namespace {

using namespace neardup::fuzz;

struct Topic {
    const char* name;
    void (*run)(const std::uint8_t*, std::size_t);
};
constexpr Topic kTopics[] = {{"json_lines", fuzz_json_lines},
                             {"pages", fuzz_pages},
                             {"segment", fuzz_segment},
                             {"sets", fuzz_sets},
                             {"text", fuzz_text},
                             {"weights", fuzz_weights}};

void replay(const Topic& topic, const std::filesystem::path& file) {
    std::ifstream stream(file, std::ios::binary);
    const std::vector<char> bytes{std::istreambuf_iterator<char>(stream), {}};
    std::printf("%s\n", file.string().c_str());
    std::fflush(stdout);  // the last name printed is the one that failed
    const auto memory = tight(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
    topic.run(memory.get(), bytes.size());
}

}  // namespace

int main(int count, char** arguments) {
    if (count != 2) {
        std::fprintf(stderr, "usage: fuzz_replay CORPUS\n");
        return 2;
    }
    std::size_t files = 0;
    for (const Topic& topic : kTopics)
        for (const auto& entry : std::filesystem::directory_iterator(
                 std::filesystem::path(arguments[1]) / topic.name)) {
            replay(topic, entry.path());
            ++files;
        }
    std::printf("%zu inputs replayed\n", files);
    return files == 0 ? 1 : 0;
}
