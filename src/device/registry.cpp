#include <array>

#include "device/devices.h"

namespace loaderscope {

std::span<const DeviceRow> device_table() {
  static const std::array<DeviceRow, 2> kTable = {{
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
  }};
  return kTable;
}

}  // namespace loaderscope
