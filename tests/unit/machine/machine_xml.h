// Machines that we do not have, as hwloc writes them. Their CPUs are numbered as Linux does: first
// one of each core, then the siblings.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <vector>

namespace loaderscope::test {

struct MadeMachine {
  std::vector<int> cores{4, 4};  // cores of each socket, which is a NUMA node; at most 32 CPUs
  int threads = 2;               // threads of each core
  std::vector<int> gpus{4, 4};   // GPUs of each socket
  bool says_where = true;        // false: the sockets of the devices are unknown
  std::uint32_t allowed = 0xffffffff;  // CPUs that a cgroup allows
};

class MachineXml {
 public:
  explicit MachineXml(const MadeMachine& machine) : machine_(machine) {
    for (const int cores : machine.cores) all_cores_ += cores;
  }

  std::string text() {
    const std::uint32_t all = cpu_mask(0, all_cores_);
    const auto nodes = (std::uint32_t{1} << machine_.cores.size()) - 1;
    std::string body;
    int first = 0;
    for (std::size_t socket = 0; socket < machine_.cores.size(); ++socket) {
      body += text_of_socket(socket, first);
      first += machine_.cores[socket];
    }
    if (!machine_.says_where) body += text_of_devices(0) + text_of_devices(1);
    // A line each: where hwloc is without libxml2 it wants them so.
    return "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
           "<!DOCTYPE topology SYSTEM \"hwloc2.dtd\">\n"
           "<topology version=\"2.0\">\n" +
           object("Machine", 0, all, nodes,
                  fmt::format(R"( allowed_cpuset="{:#010x}" allowed_nodeset="{:#010x}")",
                              all & machine_.allowed, nodes),
                  body) +
           "</topology>";
  }

 private:
  std::uint32_t cpu_mask(int first_core, int cores) const {
    std::uint32_t cpus = 0;
    for (int thread = 0; thread < machine_.threads; ++thread) {
      for (int core = first_core; core < first_core + cores; ++core)
        cpus |= std::uint32_t{1} << (thread * all_cores_ + core);
    }
    return cpus;
  }

  std::string object(const char* type, int number, std::uint32_t cpus, std::uint32_t nodes,
                     const std::string& more, const std::string& body) {
    return fmt::format(R"(<object type="{}" os_index="{}" cpuset="{:#010x}" )"
                       R"(complete_cpuset="{:#010x}" nodeset="{:#010x}" )"
                       R"(complete_nodeset="{:#010x}" gp_index="{}"{}>{}</object>)",
                       type, number, cpus, cpus, nodes, nodes, ++objects_, more, body);
  }

  std::string text_of_core(int core, std::uint32_t node) {
    std::string body;
    for (int thread = 0; thread < machine_.threads; ++thread) {
      const int cpu = thread * all_cores_ + core;
      body += object("PU", cpu, std::uint32_t{1} << cpu, node, "", "");
    }
    return object("Core", core, cpu_mask(core, 1), node, "", body);
  }

  std::string text_of_socket(std::size_t socket, int first) {
    const std::uint32_t node = std::uint32_t{1} << socket;
    const std::uint32_t cpus = cpu_mask(first, machine_.cores[socket]);
    const int number = static_cast<int>(socket);
    std::string cores;
    for (int i = 0; i < machine_.cores[socket]; ++i) cores += text_of_core(first + i, node);
    std::string body = object("NUMANode", number, cpus, node, R"( local_memory="17179869184")", "");
    body += object("L3Cache", 0, cpus, node,
                   R"( cache_size="33554432" depth="3" cache_linesize="64" )"
                   R"(cache_associativity="0" cache_type="0")",
                   cores);
    if (machine_.says_where) body += text_of_devices(socket);
    return object("Package", number, cpus, node, "", body);
  }

  std::string text_of_device(int bus, const char* type, const std::string& body) {
    return fmt::format(R"(<object type="PCIDev" os_index="{0}" gp_index="{1}" )"
                       R"(pci_busid="0000:{2:02x}:00.0" pci_type="{3} a1" )"
                       R"(pci_link_speed="0.0">{4}</object>)",
                       bus << 12, ++objects_, bus, type, body);
  }

  // GPU i of socket s is at 0000:(16s+i+1):00.0; each socket has a drive, the first a screen, too.
  std::string text_of_devices(std::size_t socket) {
    const int first_bus = static_cast<int>(socket) * 16 + 1;
    std::string body;
    for (int i = 0; i < machine_.gpus[socket]; ++i)
      body += text_of_device(first_bus + i, "0302 [10de:2330] [10de:16c1]", "");
    body += text_of_device(first_bus + 12, "0108 [144d:a824] [144d:a801]",
                           fmt::format(R"(<object type="OSDev" gp_index="{}" name="nvme{}n1" )"
                                       R"(osdev_type="0"/>)",
                                       ++objects_, socket));
    if (socket == 0) body += text_of_device(14, "0300 [1a03:2000] [1a03:2000]", "");
    return fmt::format(R"(<object type="Bridge" gp_index="{}" bridge_type="0-1" depth="0" )"
                       R"(bridge_pci="0000:[{:02x}-{:02x}]">{}</object>)",
                       ++objects_, first_bus, first_bus + 14, body);
  }

  MadeMachine machine_;
  int all_cores_ = 0;
  int objects_ = 0;
};

}  // namespace loaderscope::test
