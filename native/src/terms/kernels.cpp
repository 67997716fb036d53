// Compiled once per instruction set; see isa.hpp.
#include "neardup/terms/kernels.hpp"

#include "neardup/terms/md5.hpp"
#include "neardup/text/tokenize.hpp"

namespace neardup::NEARDUP_ISA {

namespace {

static_assert(kReadAhead >= 16);

class TokenizerCutter final : public WordCutter {
  public:
    LoweredWords cut(const std::uint8_t* text, std::size_t size) override {
        tokens_.run(text, size);
        return {tokens_.lowered(), tokens_.lowered_size(), tokens_.edges(), tokens_.edge_pairs(),
                tokens_.words()};
    }

  private:
    Tokenizer tokens_;
};

WordCutter* new_word_cutter() { return new TokenizerCutter; }

}  // namespace

const TermKernels term_kernels = {new_word_cutter, md5_terms};

}  // namespace neardup::NEARDUP_ISA
