// Where the processes of a job stand whose loader hangs: what a report of it is made from.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "guest/protocol/loader_facts.h"
#include "hang/progress_tracker.h"
#include "hang/python_stack.h"
#include "loaderscope/units.h"
#include "machine/system_call.h"

namespace loaderscope::hang {

struct ProcessFacts {
  pid_t pid = 0;  // 0: none has joined
  bool has_ended = false;
  bool is_stopped = false;    // by a signal, or a debugger
  bool is_in_kernel = false;  // and cannot be interrupted there
  std::string wchan;          // where in the kernel; "": not known
  SystemCall call;
  bool waits_for_interpreter = false;  // for Python's lock
  std::int64_t open_files = 0, most_files = 0;
  // What it makes: less than 0 where it makes none, or that is not told apart.
  std::int64_t batch = -1, sample = -1, stage = -1;
  std::vector<PythonThread> threads;  // as far as it could be asked; the main thread first
};

struct WorkerFacts : ProcessFacts {
  std::int32_t number = 0;
};

struct RankFacts : ProcessFacts {
  std::int32_t rank = -1;  // -1: it is the only one
  Nanos asking_for = 0;    // how long for a batch; 0: it asks for none
  ProgressTracker::Epoch current, finished;
  std::vector<AwaitedBatch> awaited;
  guest::LoaderFacts loader;  // that it asks
  std::vector<WorkerFacts> workers;

  // The batch that it gets next, as far as it is known; null: none was asked of a worker.
  const AwaitedBatch* next_batch() const;
  // Who makes that; null: nobody that is known, or it does so itself.
  const WorkerFacts* maker() const;
};

struct HangFacts {
  Nanos since = 0;       // how long it has stood
  bool is_busy = false;  // who is waited for: it may be slow, and does not hang for sure
  std::vector<RankFacts> ranks;
  std::size_t root = 0;                     // of them: the one that keeps the others waiting
  double shared_free = 0, shared_size = 0;  // bytes of /dev/shm

  const RankFacts& rank() const { return ranks[root]; }
};

}  // namespace loaderscope::hang
