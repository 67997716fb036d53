// Which of the instruction sets that the kernels are compiled for this machine can run.
#pragma once

#include <string>
#include <vector>

namespace neardup {

// The names of those that this machine can run, slowest first.
std::vector<std::string> available_isas();

}  // namespace neardup
