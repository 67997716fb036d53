// Compiled once per instruction set; see isa.hpp.
#include "neardup/json/kernels.hpp"

#include "neardup/json/scan.hpp"
#include "neardup/text/utf8.hpp"

namespace neardup::NEARDUP_ISA {

const JsonKernels json_kernels = {is_utf8, scan_json_lines};

}  // namespace neardup::NEARDUP_ISA
