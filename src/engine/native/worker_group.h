// The workers of all ranks of a job: threads, or processes.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/shared_memory.h"
#include "engine/native/rank_share.h"
#include "machine/process_counters.h"

namespace loaderscope::native {

struct Start {
  Execution execution;   // execution of the worker's start
  Interval parent_time;  // time that its start took in the parent; a forked worker was born at its
                         // end
};

using RankShares = std::vector<std::unique_ptr<RankShare>>;  // one per rank

class WorkerGroup {
 public:
  virtual ~WorkerGroup() = default;

  // Called from the trainer's thread of the rank.
  // Starts a worker and its feeder, and returns as soon as the start no longer needs the caller.
  virtual void start(std::int32_t rank, const Start& start) = 0;
  // Waits for the workers of the rank, whose share is closed; less long when the job is to stop.
  virtual void join(std::int32_t rank) = 0;

  // Called from the job's own thread.
  // Throws the failure of a worker, if no thread of the job did so itself.
  virtual void look() {}
  virtual bool ended() = 0;  // true if only the job's threads are left
  virtual void kill() {}     // kills workers that do not end by themselves, if possible
  virtual OtherProcesses processes() const { return {}; }
};

std::unique_ptr<WorkerGroup> make_thread_workers(Job& job, const RankShares& shares);
// Forks: before the first thread, and before a device is touched. `memory` is what the shares
// lie in; nothing more can be had from it afterwards.
std::unique_ptr<WorkerGroup> make_process_workers(Job& job, const RankShares& shares,
                                                  SharedMemory& memory);

}  // namespace loaderscope::native
