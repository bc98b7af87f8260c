#include "device/registry.h"

namespace loaderscope {

std::span<const DeviceRow> device_table() {
  static const DeviceRow rows[] = {
      {{"sim", "A simulated link and GPU: copies take bytes / --link, steps take --compute."}},
      {{"null", "Batches are taken and dropped: the pure rate of the loader."}},
  };
  return rows;
}

}  // namespace loaderscope
