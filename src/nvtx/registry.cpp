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
        "Mark the work of each thread, batches, bytes, queue depths and the window as NVTX ranges. "
        "Nsight Systems and other NVTX tools show them.",
        without_nvtx}},
  }};
  return kTable;
}

}  // namespace loaderscope::nvtx
