#include "machine/numa_nodes.h"

#include <algorithm>
#include <fstream>
#include <string>
#include <string_view>

namespace loaderscope {
namespace {

namespace fs = std::filesystem;

bool have_common(const CpuSet& a, const CpuSet& b) {
  return std::any_of(a.begin(), a.end(),
                     [&](int cpu) { return std::binary_search(b.begin(), b.end(), cpu); });
}

}  // namespace

CpuSet cpus_of_process(const fs::path& root, pid_t process) {
  constexpr std::string_view kKey = "Cpus_allowed_list:";
  std::ifstream in(root / "proc" / std::to_string(process) / "status");
  for (std::string line; std::getline(in, line);) {
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
    std::ifstream in(entry.path() / "cpulist");
    std::string list;
    if (std::getline(in, list) && have_common(parse_cpu_list(list), allowed)) ++nodes;
  }
  return nodes;
}

}  // namespace loaderscope
