// The records of one job's processes, brought together at the first of them.
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
  std::function<UsableCpus(std::size_t process)> process_cpus;
};
void join_hosts(const ProcessesOfJob& processes, RunRecord& job);

struct JobAnswer {
  RunRecord record;
  std::string failure;  // reason for an early end or for a missing part; "" without one
};

// Returns the settings that must be equal in all processes of a job.
HelloMessage make_hello(const RunConfig& config, const MachineFacts& machine, std::int64_t ranks);

// Converts the record to a host of the job, on the first host's clock. `failure` is the reason for
// an early end; "" without one.
void bring_onto_first_clock(Rendezvous& meeting, RunRecord& own, const std::string& failure);

// Sends the record to the first process. Throws RunError if that process does not accept it.
void hand_over(Rendezvous& meeting, const RunRecord& own);

// Gathers the records at the first process. Leaves out processes that are no part of the job, and
// adds a note. `book_waits` books waits for ranks of other processes, with the ranks in the order
// of the processes. After `stop` is not 0, missing processes are left out.
JobAnswer gather_records(Rendezvous& meeting, JobAnswer own,
                         const std::function<void(RunRecord&)>& book_waits,
                         const StopSignal* stop = nullptr);

// Books waits for other hosts if hosts end their steps together, and adds a note. Each host has
// seen the collectives of a program as compute.
void book_waits_of_programs(RunRecord& job);

}  // namespace loaderscope
