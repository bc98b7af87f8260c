#include "device/cuda/gpu_link.h"

#include <algorithm>
#include <cctype>
#include <fstream>
#include <iterator>
#include <optional>

namespace loaderscope {
namespace {

namespace fs = std::filesystem;

// The number that a file begins with: "16", "32.0 GT/s PCIe"; nothing for "Unknown".
std::optional<double> read_number(const fs::path& file) {
  std::ifstream input(file);
  double value = 0;
  if (!(input >> value)) return std::nullopt;
  return value;
}

void add(std::vector<Metric>& metrics, const char* name, const char* help,
         std::optional<double> value) {
  if (value) metrics.push_back(make_metric(name, help, *value));
}

fs::path device_folder(const fs::path& root, std::string address) {
  std::transform(address.begin(), address.end(), address.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return root / "sys/bus/pci/devices" / address;
}

// Returns nothing if the firmware does not know the node: -1.
std::optional<int> numa_node(const fs::path& device) {
  const std::optional<double> node = read_number(device / "numa_node");
  constexpr double kMaxNodes = 1 << 16;
  if (!node || !(*node >= 0 && *node < kMaxNodes)) return std::nullopt;
  return static_cast<int>(*node);
}

// Returns nothing if the kernel does not know the CPUs.
std::optional<CpuSet> cpus_of_node(const fs::path& root, int node, const CpuSet& usable) {
  const std::string folder = "node" + std::to_string(node);
  std::ifstream input(root / "sys/devices/system/node" / folder / "cpulist");
  std::string list;
  if (!std::getline(input, list)) return std::nullopt;
  const CpuSet all = parse_cpu_list(list);
  CpuSet near;
  std::set_intersection(all.begin(), all.end(), usable.begin(), usable.end(),
                        std::back_inserter(near));
  return near;
}

void add_node(std::vector<Metric>& metrics, const fs::path& root, const fs::path& device,
              const CpuSet& usable) {
  const std::optional<int> node = numa_node(device);
  const auto near = node ? cpus_of_node(root, *node, usable) : std::nullopt;
  if (!near) return;
  add(metrics, metric::numa_gpu_node, "NUMA node that the GPU is on", static_cast<double>(*node));
  add(metrics, metric::numa_near_cpus, "usable CPUs on the node of the GPU",
      static_cast<double>(near->size()));
  add(metrics, metric::numa_far_cpus, "usable CPUs on other nodes",
      static_cast<double>(usable.size() - near->size()));
}

// 1 where the kernel does not say.
double part_in_force(const std::vector<Metric>& metrics) {
  const auto metric_value = [&](std::string_view name) {
    return value_of(metrics, name).value_or(0);
  };
  const double most = metric_value(metric::link_max_width) * metric_value(metric::link_max_gts);
  return most > 0 ? metric_value(metric::link_width) * metric_value(metric::link_gts) / most : 1;
}

}  // namespace

std::vector<Metric> gpu_link_metrics(const fs::path& root, const std::string& address,
                                     const CpuSet& usable) {
  const fs::path device = device_folder(root, address);
  std::vector<Metric> metrics;
  add(metrics, metric::link_width, "PCIe lanes of the GPU in use",
      read_number(device / "current_link_width"));
  add(metrics, metric::link_max_width, "lanes that it can use",
      read_number(device / "max_link_width"));
  add(metrics, metric::link_gts, "transfers per second and lane now, in 10^9",
      read_number(device / "current_link_speed"));
  add(metrics, metric::link_max_gts, "that it can do", read_number(device / "max_link_speed"));
  add_node(metrics, root, device, usable);
  return metrics;
}

CpuSet near_cpus(const fs::path& root, const std::string& address, const CpuSet& usable) {
  const std::optional<int> node = numa_node(device_folder(root, address));
  const auto near = node ? cpus_of_node(root, *node, usable) : std::nullopt;
  return near.value_or(CpuSet{});
}

std::vector<Metric> weakest_link_metrics(const fs::path& root,
                                         const std::vector<std::string>& addresses,
                                         const CpuSet& usable) {
  std::vector<Metric> weakest;
  for (const std::string& address : addresses) {
    std::vector<Metric> metrics = gpu_link_metrics(root, address, usable);
    if (weakest.empty() || part_in_force(metrics) < part_in_force(weakest))
      weakest = std::move(metrics);
  }
  return weakest;
}

}  // namespace loaderscope
