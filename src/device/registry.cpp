#include <algorithm>
#include <array>

#include "device/devices.h"

namespace loaderscope {

std::span<const DeviceRow> device_table() {
  static const std::array<DeviceRow, 4> kTable = {{
      {{"cuda",
        "a real GPU: copies, computes and host memory of the CUDA runtime, times of the GPU's own.",
        why_no_cuda},
       false,
       true,
       make_cuda_devices},
      {{"sim",
        "a simulated link and GPU in real time: copies and computes take what --link and --compute "
        "say."},
       true,
       true,
       make_sim_devices},
      {{"null", "takes batches and drops them: the loader's own rate, no busy."},
       false,
       false,
       make_null_devices},
      {{"script",
        "what the measured program does with a batch, from taking it until it asks for the next: "
        "for run -- COMMAND."},
       false,
       true,
       nullptr},
  }};
  return kTable;
}

const DeviceRow& device_row(std::string_view name) {
  const std::span<const DeviceRow> table = device_table();
  return *std::find_if(table.begin(), table.end(),
                       [&](const DeviceRow& row) { return row.row.name == name; });
}

}  // namespace loaderscope
