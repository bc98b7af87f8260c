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
  Execution execution;  // of the worker's start
  Interval by_parent;   // what it kept the one who starts it; a forked worker was born at its end
};

using RankShares = std::vector<std::unique_ptr<RankShare>>;  // by rank

class WorkerGroup {
 public:
  virtual ~WorkerGroup() = default;

  // From the trainer's thread of the rank.
  // Starts a worker and its feeder, and returns as soon as that no longer keeps the caller.
  virtual void start(std::int32_t rank, const Start& start) = 0;
  // Waits for the workers of the rank, whose share is closed; less long when the job is to stop.
  virtual void join(std::int32_t rank) = 0;

  // From the job's own thread.
  // Throws what a worker failed with, if no thread of the job did so itself.
  virtual void look() {}
  virtual bool ended() = 0;  // no worker is left, beside the job's threads
  virtual void kill() {}     // those that do not end by themselves, where that is possible
  virtual OtherProcesses processes() const { return {}; }
};

std::unique_ptr<WorkerGroup> make_thread_workers(Job& job, const RankShares& shares);
// Forks: before the first thread, and before a device is touched. `memory` is what the shares
// lie in; nothing more can be had from it afterwards.
std::unique_ptr<WorkerGroup> make_process_workers(Job& job, const RankShares& shares,
                                                  SharedMemory& memory);

}  // namespace loaderscope::native
