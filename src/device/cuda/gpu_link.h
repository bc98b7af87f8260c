// The connection of a GPU according to the kernel's files: width and speed of its PCIe link, and
// the usable CPUs on its NUMA node.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/cpu_set.h"
#include "loaderscope/run_record.h"

namespace loaderscope {

// The metrics link.* and numa.* of the GPU at `address`, "0000:65:00.0". What the kernel does not
// say is left out. `root` is "/", or a copy of /sys for tests. A link that rests may be slower than
// one at work: to be read while copies run or just after.
std::vector<Metric> gpu_link_metrics(const std::filesystem::path& root, const std::string& address,
                                     const CpuSet& usable);

// Returns the usable CPUs on its NUMA node; empty if the kernel does not know them.
CpuSet near_cpus(const std::filesystem::path& root, const std::string& address,
                 const CpuSet& usable);

// Returns the metrics of the GPU whose link is furthest below its maximum.
std::vector<Metric> weakest_link_metrics(const std::filesystem::path& root,
                                         const std::vector<std::string>& addresses,
                                         const CpuSet& usable);

}  // namespace loaderscope
