// Conversion of the processes of a job to its hosts.
#pragma once

#include <cstddef>
#include <functional>
#include <string>

#include "loaderscope/run_record.h"
#include "rendezvous/rendezvous.h"

namespace loaderscope {

// Joins the processes of each host. Each of the job's `hosts` is one process before the call.
// Afterwards ranks follow each other host by host, and a note maps them to processes. The cores of
// a host are the cores that any of its processes may use. All functions take places in `hosts`.
struct ProcessesOfJob {
  std::function<bool(std::size_t one, std::size_t other)> are_on_one_host;
  std::function<std::string(std::size_t process)> name_of;
  std::function<UsableCpus(std::size_t process)> cpus_of;
};
void join_hosts(const ProcessesOfJob& processes, RunRecord& job);

}  // namespace loaderscope
