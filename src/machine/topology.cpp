#include "machine/topology.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <set>

namespace loaderscope {
namespace {

using Device = Topology::Device;
using Kind = Topology::DeviceKind;

std::string counted(std::size_t count, std::string_view what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

// "2", or "1 or 2" where some have fewer usable ones.
std::string threads_per_core(const Topology& topology) {
  std::set<std::size_t> counts;
  for (const Topology::Core& core : topology.cores) counts.insert(core.cpus.size());
  std::string text;
  for (const std::size_t count : counts)
    text += (text.empty() ? "" : " or ") + std::to_string(count);
  return text + (counts == std::set<std::size_t>{1} ? " thread" : " threads");
}

std::size_t cores_on(const Topology& topology, int node) {
  return static_cast<std::size_t>(
      std::count_if(topology.cores.begin(), topology.cores.end(),
                    [&](const Topology::Core& core) { return core.node == node; }));
}

// Lists the devices with `node`: "GPU 0-3, nvme0n1, mlx5_0". GPUs are counted by their addresses.
std::string devices_on(const Topology& topology, int node) {
  std::string text;
  const auto add = [&](const std::string& part) { text += (text.empty() ? "" : ", ") + part; };
  CpuSet gpus;
  int gpu = 0;
  for (const Device& device : topology.devices) {
    if (device.kind == Kind::gpu && device.node == node) gpus.push_back(gpu);
    gpu += device.kind == Kind::gpu ? 1 : 0;
  }
  if (!gpus.empty()) add("GPU " + cpu_list_to_text(gpus));
  for (const Device& device : topology.devices) {
    if (device.kind == Kind::gpu || device.node != node) continue;
    add((device.kind == Kind::network ? "network " : "storage ") +
        (device.name.empty() ? device.address : device.name));
  }
  return text;
}

std::string draw_node(const Topology& topology, const Topology::Node& node) {
  std::string line = fmt::format("node {}: ", node.number);
  line += node.cpus.empty()
              ? "no usable CPU"
              : fmt::format("{} (CPUs {})", counted(cores_on(topology, node.number), "core"),
                            cpu_list_to_text(node.cpus));
  line += ", " + format_size(static_cast<double>(node.memory));
  const std::string devices = devices_on(topology, node.number);
  return line + (devices.empty() ? "" : "; " + devices) + "\n";
}

}  // namespace

const Device* Topology::gpu_at(std::string_view address) const {
  const auto same = [](char a, char b) { return (a | 0x20) == (b | 0x20); };
  const auto found = std::find_if(devices.begin(), devices.end(), [&](const Device& device) {
    return device.kind == DeviceKind::gpu &&
           std::equal(device.address.begin(), device.address.end(), address.begin(), address.end(),
                      same);
  });
  return found == devices.end() ? nullptr : &*found;
}

std::string draw_topology(const Topology& topology) {
  if (!topology.unavailable.empty())
    return counted(topology.cpus.size(), "CPU") + "; " + topology.unavailable + "\n";
  std::set<int> caches;
  for (const Topology::Core& core : topology.cores) caches.insert(core.cache);
  std::string text = fmt::format(
      "{}, {} of {}, {}, {}\n", counted(static_cast<std::size_t>(topology.sockets), "socket"),
      counted(topology.cores.size(), "usable core"), threads_per_core(topology),
      counted(caches.size(), "last-level cache"), counted(topology.nodes.size(), "NUMA node"));
  for (const Topology::Node& node : topology.nodes) text += draw_node(topology, node);
  if (const std::string devices = devices_on(topology, -1); !devices.empty())
    text += "on no known node: " + devices + "\n";
  return text;
}

namespace {

namespace fs = std::filesystem;

bool have_common(const CpuSet& a, const CpuSet& b) {
  return std::any_of(a.begin(), a.end(),
                     [&](int cpu) { return std::binary_search(b.begin(), b.end(), cpu); });
}

}  // namespace

CpuSet cpus_of_process(const fs::path& root, pid_t process) {
  constexpr std::string_view kKey = "Cpus_allowed_list:";
  std::ifstream input(root / "proc" / std::to_string(process) / "status");
  for (std::string line; std::getline(input, line);) {
    if (!line.starts_with(kKey)) continue;
    const auto list = line.find_first_not_of(" \t", kKey.size());
    return list == line.npos ? CpuSet() : parse_cpu_list(line.substr(list));
  }
  return {};
}

std::int64_t nodes_of_process(const fs::path& root, pid_t process) {
  const CpuSet allowed = cpus_of_process(root, process);
  std::int64_t nodes = 0;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(root / "sys/devices/system/node", error)) {
    std::ifstream input(entry.path() / "cpulist");
    std::string list;
    if (std::getline(input, list) && have_common(parse_cpu_list(list), allowed)) ++nodes;
  }
  return nodes;
}

}  // namespace loaderscope
