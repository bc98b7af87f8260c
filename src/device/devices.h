// The makers behind the rows of the device table.
#pragma once

#include "loaderscope/device.h"

namespace loaderscope {

std::vector<std::unique_ptr<Device>> make_sim_devices(const RunConfig& config,
                                                      const std::atomic<int>& stop);
std::vector<std::unique_ptr<Device>> make_null_devices(const RunConfig& config,
                                                       const std::atomic<int>& stop);

std::vector<std::unique_ptr<Device>> make_cuda_devices(const RunConfig& config,
                                                       const std::atomic<int>& stop);
std::optional<std::string> why_no_cuda();  // a sentence; nothing where a GPU can be used

}  // namespace loaderscope
