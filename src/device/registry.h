// The family of devices: where batches go.
#pragma once

#include <span>

#include "loaderscope/rows.h"

namespace loaderscope {

struct DeviceRow {
  Row row;
};

std::span<const DeviceRow> device_table();

}  // namespace loaderscope
