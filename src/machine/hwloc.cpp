#include <hwloc.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <limits>
#include <memory>
#include <optional>
#include <set>

#include "loaderscope/errors.h"
#include "machine/topology.h"

namespace loaderscope {
namespace {

using Hwloc = std::unique_ptr<hwloc_topology, void (*)(hwloc_topology_t)>;
using Kind = Topology::DeviceKind;

// hwloc loads all its plugins only to leave them out by their names, with X11 and OpenCL, and that
// of PCI leaks; what is wanted of devices comes from /sys. Where the user names some, those are
// left out.
class WithoutPlugins {
 public:
  WithoutPlugins() : is_ours_(std::getenv(kVariable) == nullptr) {
    if (is_ours_) ::setenv(kVariable, kPlugins, 0);
  }
  ~WithoutPlugins() {
    if (is_ours_) ::unsetenv(kVariable);  // not for programs that are started
  }
  WithoutPlugins(const WithoutPlugins&) = delete;
  WithoutPlugins& operator=(const WithoutPlugins&) = delete;

 private:
  static constexpr const char* kVariable = "HWLOC_PLUGINS_BLACKLIST";
  static constexpr const char* kPlugins =
      "hwloc_cuda.so,hwloc_gl.so,hwloc_levelzero.so,hwloc_nvml.so,hwloc_opencl.so,hwloc_pci.so,"
      "hwloc_rsmi.so";
  bool is_ours_;
};

Hwloc make_hwloc() {
  hwloc_topology_t made = nullptr;
  const WithoutPlugins without;
  if (hwloc_topology_init(&made) != 0) return {nullptr, nullptr};
  Hwloc topology(made, hwloc_topology_destroy);
  // Also what a cgroup takes away: a GPU there is far, not gone.
  hwloc_topology_set_flags(made, HWLOC_TOPOLOGY_FLAG_INCLUDE_DISALLOWED);
  hwloc_topology_set_io_types_filter(made, HWLOC_TYPE_FILTER_KEEP_IMPORTANT);
  // These plugins would start a driver in this process before it forks, or connect to a display.
  for (const char* const plugin : {"cuda", "nvml", "opencl", "rsmi", "levelzero", "gl"})
    hwloc_topology_set_components(made, HWLOC_TOPOLOGY_COMPONENTS_FLAG_BLACKLIST, plugin);
  return topology;
}

CpuSet bitmap_cpus(hwloc_const_bitmap_t bitmap) {
  CpuSet cpus;
  if (bitmap == nullptr || hwloc_bitmap_weight(bitmap) < 0) return cpus;  // -1: endless
  for (int cpu = hwloc_bitmap_first(bitmap); cpu >= 0; cpu = hwloc_bitmap_next(bitmap, cpu))
    cpus.push_back(cpu);
  return cpus;
}

CpuSet common(const CpuSet& a, const CpuSet& b) {
  CpuSet both;
  std::set_intersection(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(both));
  return both;
}

int number_of_ancestor(hwloc_topology_t topology, hwloc_obj_t object, hwloc_obj_type_t type) {
  const hwloc_obj_t found = hwloc_get_ancestor_obj_by_type(topology, type, object);
  return found == nullptr ? 0 : static_cast<int>(found->logical_index);
}

// The one furthest from the core; of none all cores of a socket are one group.
int last_cache(hwloc_topology_t topology, hwloc_obj_t core) {
  int number = number_of_ancestor(topology, core, HWLOC_OBJ_PACKAGE);
  for (hwloc_obj_t above = core->parent; above != nullptr; above = above->parent) {
    if (hwloc_obj_type_is_dcache(above->type) != 0) number = static_cast<int>(above->logical_index);
  }
  return number;
}

// All of the machine, usable or not. Where nothing is known of cores each CPU is one.
std::vector<Topology::Core> all_cores(hwloc_topology_t topology) {
  const hwloc_obj_type_t type =
      hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_CORE) > 0 ? HWLOC_OBJ_CORE : HWLOC_OBJ_PU;
  std::vector<Topology::Core> cores;
  for (hwloc_obj_t object = nullptr;
       (object = hwloc_get_next_obj_by_type(topology, type, object)) != nullptr;) {
    Topology::Core core;
    core.cpus = bitmap_cpus(object->cpuset);
    core.socket = number_of_ancestor(topology, object, HWLOC_OBJ_PACKAGE);
    // Later nodes at the same distance are memory of devices.
    core.node = std::max(0, hwloc_bitmap_first(object->nodeset));
    core.cache = last_cache(topology, object);
    cores.push_back(std::move(core));
  }
  return cores;
}

// Returns nothing for devices that no loader uses, such as the screen of a server's console.
std::optional<Kind> device_kind(hwloc_obj_t device) {
  constexpr int kNvidia = 0x10de, kAmd = 0x1002;
  const auto& pci = device->attr->pcidev;
  const int base = pci.class_id >> 8;
  const bool has_block_device = device->io_first_child != nullptr &&
                                device->io_first_child->attr->osdev.type == HWLOC_OBJ_OSDEV_BLOCK;
  if (pci.class_id == 0x0302 || base == 0x12) return Kind::gpu;
  if (base == 0x03 && (pci.vendor_id == kNvidia || pci.vendor_id == kAmd)) return Kind::gpu;
  if (base == 0x02 || pci.class_id == 0x0c06) return Kind::network;
  if (pci.class_id == 0x0108 || (base == 0x01 && has_block_device)) return Kind::storage;
  return std::nullopt;
}

std::string pci_address(hwloc_obj_t device) {
  const auto& pci = device->attr->pcidev;
  char text[32];
  std::snprintf(text, sizeof text, "%04x:%02x:%02x.%01x", unsigned{pci.domain}, unsigned{pci.bus},
                unsigned{pci.dev}, unsigned{pci.func});
  return text;
}

// Sets the place of a device: CPUs that are a part of the machine, or its only node.
void place_device(Topology::Device& device, const CpuSet& near_cpus,
                  const std::vector<Topology::Core>& cores, const CpuSet& usable) {
  std::set<int> nodes, all_nodes;
  for (const Topology::Core& core : cores) {
    all_nodes.insert(core.node);
    if (!common(core.cpus, near_cpus).empty()) nodes.insert(core.node);
  }
  if (nodes.size() == 1) device.node = *nodes.begin();
  if (nodes.size() < all_nodes.size() || nodes.size() == 1) device.near = common(near_cpus, usable);
}

std::vector<Topology::Device> list_devices(hwloc_topology_t topology,
                                           const std::vector<Topology::Core>& cores,
                                           const CpuSet& usable) {
  std::vector<Topology::Device> devices;
  for (hwloc_obj_t object = nullptr;
       (object = hwloc_get_next_pcidev(topology, object)) != nullptr;) {
    const std::optional<Kind> kind = device_kind(object);
    if (!kind) continue;
    Topology::Device device;
    device.kind = *kind;
    device.address = pci_address(object);
    const hwloc_obj_t child = object->io_first_child;
    if (child != nullptr && child->name != nullptr) device.name = child->name;
    const hwloc_obj_t ancestor = hwloc_get_non_io_ancestor_obj(topology, object);
    if (ancestor != nullptr) place_device(device, bitmap_cpus(ancestor->cpuset), cores, usable);
    devices.push_back(std::move(device));
  }
  std::sort(devices.begin(), devices.end(), [](const auto& a, const auto& b) {
    return std::pair(a.kind, a.address) < std::pair(b.kind, b.address);
  });
  return devices;
}

std::vector<Topology::Node> list_nodes(hwloc_topology_t topology,
                                       const std::vector<Topology::Core>& cores) {
  std::vector<Topology::Node> nodes;
  for (hwloc_obj_t object = nullptr;
       (object = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_NUMANODE, object)) != nullptr;) {
    Topology::Node node;
    node.number = static_cast<int>(object->os_index);
    node.memory = static_cast<Bytes>(std::min<std::uint64_t>(object->attr->numanode.local_memory,
                                                             std::numeric_limits<Bytes>::max()));
    for (const Topology::Core& core : cores) {
      if (core.node == node.number)
        node.cpus.insert(node.cpus.end(), core.cpus.begin(), core.cpus.end());
    }
    std::sort(node.cpus.begin(), node.cpus.end());
    nodes.push_back(std::move(node));
  }
  std::sort(nodes.begin(), nodes.end(),
            [](const auto& a, const auto& b) { return a.number < b.number; });
  return nodes;
}

Topology as_topology(hwloc_topology_t loaded) {
  Topology topology;
  topology.is_this_machine = hwloc_topology_is_thissystem(loaded) != 0;
  topology.cpus = bitmap_cpus(hwloc_topology_get_allowed_cpuset(loaded));
  if (topology.is_this_machine) topology.cpus = common(topology.cpus, allowed_cpus());
  topology.sockets = std::max(1, hwloc_get_nbobjs_by_type(loaded, HWLOC_OBJ_PACKAGE));
  topology.cores = all_cores(loaded);
  topology.devices = list_devices(loaded, topology.cores, topology.cpus);
  for (Topology::Core& core : topology.cores) core.cpus = common(core.cpus, topology.cpus);
  std::erase_if(topology.cores, [](const Topology::Core& core) { return core.cpus.empty(); });
  topology.nodes = list_nodes(loaded, topology.cores);
  if (topology.cores.empty()) topology.unavailable = "hwloc finds no core that may be used";
  return topology;
}

}  // namespace

Topology read_topology() {
  const Hwloc hwloc = make_hwloc();
  if (hwloc && hwloc_topology_load(hwloc.get()) == 0) return as_topology(hwloc.get());
  Topology topology;
  topology.cpus = allowed_cpus();
  topology.unavailable = "hwloc cannot read this machine";
  return topology;
}

Topology topology_of_xml(const std::string& xml) {
  constexpr std::size_t kMaxLength = std::size_t{64} << 20;
  const Hwloc hwloc = make_hwloc();
  if (!hwloc || xml.empty() || xml.size() > kMaxLength ||
      hwloc_topology_set_xmlbuffer(hwloc.get(), xml.c_str(), static_cast<int>(xml.size() + 1)) !=
          0 ||
      hwloc_topology_load(hwloc.get()) != 0) {
    throw ValueError("expected a topology as 'lstopo --of xml' writes it");
  }
  return as_topology(hwloc.get());
}

}  // namespace loaderscope
