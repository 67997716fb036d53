// text_passes FILE UNIT SIZE DISTINCT BITS ROUNDS: a line for each instruction set and pass, with
// the ticks of the processor's clock to a byte of text.
//
// FILE holds documents as int64: their number, their offsets (one more), then their bytes. Every
// slice of them goes through all instruction sets in turn, round after round, and the least ticks
// of each pass count, so that other work on the machine matters little.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>
#include <vector>

#include "neardup/dispatch.hpp"
#include "text_passes.hpp"

namespace {

using neardup::TextPasses;

struct Subject {
    std::string isa;
    TextPasses (*run)(const neardup::Column&, const neardup::Recipe&);
    TextPasses total{};
};

std::vector<Subject> subjects_here() {
    std::vector<Subject> all;
    for (const std::string& isa : neardup::available_isas()) {
        if (isa == "portable") all.push_back({isa, neardup::portable::text_passes});
#if defined(NEARDUP_X86)
        if (isa == "sse2") all.push_back({isa, neardup::sse2::text_passes});
        if (isa == "avx2") all.push_back({isa, neardup::avx2::text_passes});
#endif
#if defined(NEARDUP_AVX512)
        if (isa == "avx512") all.push_back({isa, neardup::avx512::text_passes});
#endif
#if defined(NEARDUP_ARM64)
        if (isa == "neon") all.push_back({isa, neardup::neon::text_passes});
#endif
    }
    return all;
}

struct Documents {
    std::vector<std::int64_t> offsets;
    std::vector<std::uint8_t> bytes;

    explicit Documents(const char* path) {
        std::ifstream file(path, std::ios::binary);
        std::int64_t count = 0;
        read(file, &count, 1);
        offsets.resize(static_cast<std::size_t>(count) + 1);
        read(file, offsets.data(), offsets.size());
        bytes.resize(static_cast<std::size_t>(offsets.back()));
        read(file, bytes.data(), bytes.size());
    }

  private:
    template <typename T>
    static void read(std::ifstream& file, T* to, std::size_t count) {
        if (!file.read(reinterpret_cast<char*>(to),
                       static_cast<std::streamsize>(count * sizeof(T)))) {
            std::fprintf(stderr, "the file of documents is cut off\n");
            std::exit(2);
        }
    }
};

struct Pass {
    const char* name;
    std::uint64_t TextPasses::* ticks;
};

constexpr Pass kPasses[] = {
    {"tokenize", &TextPasses::tokenize},
    {"units", &TextPasses::units},
    {"shingle", &TextPasses::shingle},
    {"distinct", &TextPasses::distinct},
    {"majority", &TextPasses::majority},
    {"whole fingerprint", &TextPasses::fingerprint},
    {"sorted features", &TextPasses::sorted_set},
    {"weighted sums", &TextPasses::weigh},
    {"UTF-8 check", &TextPasses::utf8},
};

constexpr std::int64_t kSliceBytes = 100'000;

void measure(const Documents& documents, const neardup::Recipe& recipe, int rounds,
             std::vector<Subject>& subjects) {
    const std::size_t count = documents.offsets.size() - 1;
    for (std::size_t first = 0, last; first < count; first = last) {
        last = first + 1;
        while (last < count && documents.offsets[last] - documents.offsets[first] < kSliceBytes)
            ++last;
        const neardup::Column slice{documents.bytes.data(), &documents.offsets[first],
                                    last - first};
        std::vector<TextPasses> least(subjects.size());
        for (int round = 0; round < rounds; ++round) {
            for (std::size_t i = 0; i < subjects.size(); ++i) {
                const TextPasses ticks = subjects[i].run(slice, recipe);
                for (const Pass& pass : kPasses)
                    least[i].*pass.ticks = round == 0
                                               ? ticks.*pass.ticks
                                               : std::min(least[i].*pass.ticks, ticks.*pass.ticks);
            }
        }
        for (std::size_t i = 0; i < subjects.size(); ++i)
            for (const Pass& pass : kPasses) subjects[i].total.*pass.ticks += least[i].*pass.ticks;
    }
}

}  // namespace

int main(int count, char** arguments) {
    if (count != 7) {
        std::fprintf(stderr, "text_passes FILE word|char SIZE set|count BITS ROUNDS\n");
        return 2;
    }
    const Documents documents(arguments[1]);
    const neardup::Recipe recipe{
        {std::strcmp(arguments[2], "word") == 0, std::strtoul(arguments[3], nullptr, 10)},
        std::strcmp(arguments[4], "set") == 0,
        static_cast<std::uint32_t>(std::strtoul(arguments[5], nullptr, 10)),
        false};
    std::vector<Subject> subjects = subjects_here();
    measure(documents, recipe, std::atoi(arguments[6]), subjects);
    for (const Subject& subject : subjects)
        for (const Pass& pass : kPasses)
            std::printf("%s\t%s\t%.4f\n", subject.isa.c_str(), pass.name,
                        static_cast<double>(subject.total.*pass.ticks) /
                            static_cast<double>(documents.bytes.size()));
    return 0;
}
