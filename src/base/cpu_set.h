// CPUs of the machine by their numbers.
#pragma once

#include <istream>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace loaderscope {

using CpuSet = std::vector<int>;  // ascending

// Returns the CPUs that this process may run on; empty if unknown.
CpuSet allowed_cpus();

// Restricts the calling thread, and threads and processes that it starts later, to these CPUs.
// Returns false if the set is empty or the kernel refuses.
bool run_on(const CpuSet& cpus);

// Restricts the calling thread, and what it starts, to these CPUs while the object lives.
class OnCpus {
 public:
  explicit OnCpus(const CpuSet& cpus);
  ~OnCpus();
  OnCpus(const OnCpus&) = delete;
  OnCpus& operator=(const OnCpus&) = delete;

  bool holds() const { return holds_; }  // false if the set is empty or the kernel refuses

 private:
  CpuSet before_;
  bool holds_ = false;
};

// Parses "0-3,8,10-11", as in /sys, ascending. Drops the text from the first error on.
CpuSet parse_cpu_list(std::string_view text);
std::string cpu_list_to_text(const CpuSet& cpus);  // inverse of parse_cpu_list

// Returns the CPU seconds that all programs spent on `cpus` since boot, from the text of
// /proc/stat. Empty if a CPU is missing there.
std::optional<double> busy_seconds(std::istream& proc_stat, const CpuSet& cpus);

}  // namespace loaderscope
