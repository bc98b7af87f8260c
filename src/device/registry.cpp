#include <algorithm>
#include <array>

#include "device/devices.h"
#include "loaderscope/errors.h"

namespace loaderscope {

std::span<const DeviceRow> device_table() {
  static const std::array<DeviceRow, 4> kTable = {{
      {{"cuda",
        "A real GPU. The CUDA runtime copies, computes and holds host memory; the GPU measures "
        "times.",
        why_no_cuda},
       DeviceKind::gpu,
       make_cuda_devices},
      {{"sim",
        "A simulated link and GPU in real time. --link and --compute set how long copies and steps "
        "take."},
       DeviceKind::simulated,
       make_sim_devices},
      {{"null",
        "Takes batches and drops them, which measures the loader's own rate. Busy is not "
        "reported."},
       DeviceKind::none,
       make_null_devices},
      {{"script",
        "The program of run -- COMMAND uses each batch, from taking it until it asks for the "
        "next."},
       DeviceKind::program,
       nullptr},
  }};
  return kTable;
}

const DeviceRow& device_row(std::string_view name) {
  const std::span<const DeviceRow> table = device_table();
  const auto found = std::find_if(table.begin(), table.end(),
                                  [&](const DeviceRow& row) { return row.row.name == name; });
  if (found == table.end()) throw RunError("device = " + shown_text(name) + ": there is none");
  return *found;
}

DeviceKind device_kind(std::string_view name) { return device_row(name).kind; }

}  // namespace loaderscope
