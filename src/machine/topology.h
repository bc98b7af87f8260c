// Places of the cores, memory and devices of this machine according to hwloc, and the part that
// this process may use. Only hwloc.cpp includes hwloc's own headers.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/cpu_set.h"
#include "loaderscope/units.h"

namespace loaderscope {

// CPUs are logical ones, by the kernel's numbers, and only those that this process may use.
struct Topology {
  struct Core {
    CpuSet cpus;  // one or more; several with SMT
    int socket = 0;
    int node = 0;   // the NUMA node's number
    int cache = 0;  // cores of one number share the last-level cache
  };
  struct Node {
    int number = 0;  // the kernel's
    Bytes memory = 0;
    CpuSet cpus;  // empty: a node of memory alone, or no CPU of it may be used
  };
  enum class DeviceKind : std::uint8_t { gpu, network, storage };
  struct Device {
    DeviceKind kind{};
    std::string address;  // "0000:17:00.0"
    std::string name;     // the kernel's, such as "nvme0n1" or "mlx5_0"; "": it has none
    int node = -1;        // -1: no single one is known
    CpuSet near;          // CPUs; none where it is not known, or none of them may be used
  };

  int sockets = 0;              // total of the machine
  CpuSet cpus;                  // all that may be used
  std::vector<Core> cores;      // in the order of sockets, nodes and caches
  std::vector<Node> nodes;      // sorted by number, including nodes without usable CPUs
  std::vector<Device> devices;  // sorted by kind and address
  std::string unavailable;      // reason why only `cpus` is known; "": all is known
  bool is_this_machine = true;

  const Device* gpu_at(std::string_view address) const;  // null: there is none
};

// Reads this machine, or the one that hwloc's own variables (HWLOC_XMLFILE, HWLOC_SYNTHETIC) put in
// its place; then `is_this_machine` is false. Does not throw.
Topology read_topology();

// Reads a machine that hwloc or lstopo has written as XML. Throws ValueError.
Topology topology_of_xml(const std::string& xml);

// A few lines: "2 sockets, 112 cores, 2 threads each", then one for each NUMA node with what hangs
// there.
std::string draw_topology(const Topology& topology);

// The CPUs that a process may run on, and the NUMA nodes near them.

CpuSet cpus_of_process(const std::filesystem::path& root, pid_t process);  // empty: not known

// NUMA nodes that have a CPU which the process may run on; 0 where that is not known.
std::int64_t nodes_of_process(const std::filesystem::path& root, pid_t process);

}  // namespace loaderscope
