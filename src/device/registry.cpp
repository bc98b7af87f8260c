#include <algorithm>
#include <array>

#include "device/devices.h"
#include "loaderscope/errors.h"

namespace loaderscope {

std::span<const DeviceRow> device_table() {
  static const std::array<DeviceRow, 4> kTable = {{
      {{"cuda",
        "a real GPU: copies, computes and host memory of the CUDA runtime, times of the GPU's own.",
        why_no_cuda},
       DeviceKind::gpu,
       make_cuda_devices},
      {{"sim",
        "a simulated link and GPU in real time: copies and computes take what --link and --compute "
        "say."},
       DeviceKind::simulated,
       make_sim_devices},
      {{"null", "takes batches and drops them: the loader's own rate, no busy."},
       DeviceKind::none,
       make_null_devices},
      {{"script",
        "what the measured program does with a batch, from taking it until it asks for the next: "
        "for run -- COMMAND."},
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
