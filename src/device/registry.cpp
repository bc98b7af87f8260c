#include <algorithm>

#include "device/devices.h"
#include "loaderscope/errors.h"

namespace loaderscope {

std::span<const DeviceRow> device_table() {
  static const DeviceRow kTable[] = {
#define LOADERSCOPE_DEVICE(name, help, kind, unavailable, make) {{name, help, unavailable}, make},
#include "record/devices.def"
#undef LOADERSCOPE_DEVICE
  };
  return kTable;
}

const DeviceRow& device_row(std::string_view name) {
  const std::span<const DeviceRow> table = device_table();
  const auto found = std::find_if(table.begin(), table.end(),
                                  [&](const DeviceRow& row) { return row.row.name == name; });
  if (found == table.end()) throw RunError("device = " + shown_text(name) + ": there is none");
  return *found;
}

}  // namespace loaderscope
