// From the processes of a job to its hosts.
#pragma once

#include <cstddef>
#include <functional>
#include <string>

#include "loaderscope/run_record.h"
#include "rendezvous/rendezvous.h"

namespace loaderscope {

// Each of the job's `hosts` is one process. Those of one host become one, wherever their ranks
// stand: ranks then follow each other host by host, and a note says which process has which. Its
// cores are those that any of its processes may use. All functions take places in `hosts`.
struct ProcessesOfJob {
  std::function<bool(std::size_t one, std::size_t other)> are_on_one_host;
  std::function<std::string(std::size_t process)> name_of;
  std::function<UsableCpus(std::size_t process)> cpus_of;
};
void join_hosts(const ProcessesOfJob& processes, RunRecord& job);

}  // namespace loaderscope
