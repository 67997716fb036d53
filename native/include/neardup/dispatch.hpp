// Which of the instruction sets that the kernels are compiled for this machine can run.
#pragma once

#include <string>
#include <vector>

namespace neardup {

// From the slowest to the fastest.
enum class Isa { portable, sse2, avx2 };

// The names of those that this machine can run, slowest first.
std::vector<std::string> available_isas();

// The instruction set of this name, or the fastest one for "auto". Throws std::invalid_argument if
// this machine cannot run it.
Isa isa_for(const std::string& name);

}  // namespace neardup
