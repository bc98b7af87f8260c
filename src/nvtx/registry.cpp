#include <array>

#include "nvtx/library.h"

namespace loaderscope::nvtx {
namespace {

std::optional<std::string> without_nvtx() {
  if (library::built()) return std::nullopt;
  return "built without NVTX 3; install the CUDA toolkit, whose headers it is part of, and build "
         "again.";
}

}  // namespace

std::span<const TraceRow> trace_table() {
  static const std::array<TraceRow, 1> kTable = {{
      {{"nvtx",
        "Ranges of what each thread does with batch and bytes, queue depths, thread names and the "
        "measured window, for Nsight Systems and other tools that speak NVTX.",
        without_nvtx}},
  }};
  return kTable;
}

}  // namespace loaderscope::nvtx
