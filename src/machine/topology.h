// Where the cores, memory and devices of this machine are, as hwloc tells, and which of them this
// process may use. hwloc's own headers stop in topology.cpp.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/cpu_set.h"
#include "loaderscope/units.h"

namespace loaderscope {

// CPUs are logical ones, by the kernel's numbers, and only those that this process may use.
struct Topology {
  struct Core {
    CpuSet cpus;  // at least one; several with SMT
    int socket = 0;
    int node = 0;   // the NUMA node's number
    int cache = 0;  // cores of one number share the last-level cache
  };
  struct Node {
    int number = 0;  // the kernel's
    Bytes memory = 0;
    CpuSet cpus;  // none: it is memory alone, or no CPU of it may be used
  };
  enum class DeviceKind : std::uint8_t { gpu, network, storage };
  struct Device {
    DeviceKind kind{};
    std::string address;  // "0000:17:00.0"
    std::string name;     // the kernel's, such as "nvme0n1" or "mlx5_0"; "": it has none
    int node = -1;        // -1: no single one is known
    CpuSet near;          // CPUs; none where it is not known, or none of them may be used
  };

  int sockets = 0;              // of the whole machine
  CpuSet cpus;                  // all that may be used
  std::vector<Core> cores;      // in the order of sockets, nodes and caches
  std::vector<Node> nodes;      // by number, also those that have no usable CPU
  std::vector<Device> devices;  // by kind and address
  std::string unavailable;      // why nothing of the above but `cpus` is known; "": it is
  bool is_this_machine = true;

  const Device* gpu_at(std::string_view address) const;  // null: there is none
};

// Of this machine, or of what hwloc's own variables (HWLOC_XMLFILE, HWLOC_SYNTHETIC) put in its
// place; then `is_this_machine` is false. Does not throw.
Topology read_topology();

// Of a machine that hwloc or lstopo has written as XML. Throws ValueError.
Topology topology_of_xml(const std::string& xml);

// A few lines: "2 sockets, 112 cores, 2 threads each", then one for each NUMA node with what hangs
// there.
std::string draw_topology(const Topology& topology);

}  // namespace loaderscope
