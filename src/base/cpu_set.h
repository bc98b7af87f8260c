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

// The calling thread, and what it starts from now on, runs on these CPUs only. False: there are
// none, or the kernel refuses.
bool run_on(const CpuSet& cpus);

// While it lives, the thread that made it, and what that starts, runs on these CPUs only.
class OnCpus {
 public:
  explicit OnCpus(const CpuSet& cpus);
  ~OnCpus();
  OnCpus(const OnCpus&) = delete;
  OnCpus& operator=(const OnCpus&) = delete;

  bool holds() const { return holds_; }  // false: there are none, or the kernel refuses

 private:
  CpuSet before_;
  bool holds_ = false;
};

// "0-3,8,10-11", as in /sys, ascending; from where it cannot be read on it is left out.
CpuSet parse_cpu_list(std::string_view text);
std::string cpu_list_to_text(const CpuSet& cpus);  // the other way round

// CPU seconds that anybody spent on `cpus` since boot, by the text of /proc/stat. Nothing when it
// has not all of them.
std::optional<double> busy_seconds(std::istream& proc_stat, const CpuSet& cpus);

}  // namespace loaderscope
