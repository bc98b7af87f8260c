// CPU use of other programs of this machine, by name.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "loaderscope/run_record.h"
#include "machine/process_stat.h"

namespace loaderscope {

class OtherPrograms {
 public:
  // Reads what every process has used so far, but `own` and those that descend from it. `root` is
  // "/", or a folder with its own proc for tests.
  OtherPrograms(const std::filesystem::path& root, pid_t own);
  // The same of processes that have been read, `own` all of one's own.
  OtherPrograms(const ProcessTable& all, const std::set<pid_t>& own);

  // Threads of the kernel are one program, "the kernel".
  // What programs have used since `before`, as details of host.other_cpu_s: names, and their parts
  // of what all of them used. Nothing of those that did not use a hundredth of it.
  std::vector<Detail> since(const OtherPrograms& before) const;
  // CPU seconds of each program since `before`, by name.
  std::map<std::string, double> cpu_s_since(const OtherPrograms& before) const;

 private:
  void add_but(const std::set<pid_t>& own, const ProcessTable& all);

  struct Process {
    std::string name;
    double cpu_s = 0;
  };
  // Keyed by number and start, because numbers are used again.
  std::map<std::pair<pid_t, std::int64_t>, Process> processes_;
};

}  // namespace loaderscope
