// The states of the processes of a job whose loader hangs, with their text and a snapshot of one
// process. A report is made from them.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "guest/protocol/loader_facts.h"
#include "guest/protocol/page.h"
#include "hang/progress_tracker.h"
#include "hang/python_stack.h"
#include "loaderscope/units.h"
#include "machine/system_call.h"

namespace loaderscope::hang {

struct ProcessFacts {
  pid_t pid = 0;  // 0: none has joined
  bool has_ended = false;
  bool is_stopped = false;    // stopped by a signal, or a debugger
  bool is_in_kernel = false;  // and cannot be interrupted there
  std::string wchan;          // kernel function in which it waits; "": not known
  SystemCall call;
  bool waits_for_interpreter = false;  // true if it waits for Python's lock
  std::int64_t open_files = 0, most_files = 0;
  // Current work. Negative if it makes nothing, or if that is unknown.
  std::int64_t batch = -1, sample = -1, stage = -1;
  std::vector<PythonThread> threads;  // stacks, if they could be read; the main thread first
};

struct WorkerFacts : ProcessFacts {
  std::int32_t number = 0;
};

struct RankFacts : ProcessFacts {
  std::int32_t rank = -1;  // -1: it is the only one
  Nanos asking_for = 0;    // time since its request for a batch; 0: it asks for none
  ProgressTracker::Epoch current, finished;
  std::vector<AwaitedBatch> awaited;
  guest::LoaderFacts loader;  // loader that it asks
  std::vector<WorkerFacts> workers;

  // The batch that it gets next, as far as it is known; null: none was asked of a worker.
  const AwaitedBatch* next_batch() const;
  // Returns the worker that makes that batch; null: unknown, or the trainer itself.
  const WorkerFacts* maker() const;
};

struct HangFacts {
  Nanos since = 0;       // time without progress
  bool is_busy = false;  // the awaited process is busy: it may be slow, and a hang is not certain
  std::vector<RankFacts> ranks;
  std::size_t root = 0;                     // index of the rank that keeps the others waiting
  double shared_free = 0, shared_size = 0;  // bytes of /dev/shm

  const RankFacts& rank() const { return ranks[root]; }
};

// Text about the processes of a job that hangs, and their states.
std::string name_of(const RankFacts& rank);      // "rank 1", "the trainer"
std::string name_of(const WorkerFacts& worker);  // "worker 2"
std::string with_process(const std::string& name, const ProcessFacts& process);

// "waits in read() of /data/7.jpg, at dataset.py:34 in __getitem__".
std::string describe_place(const ProcessFacts& process);
// Returns its wait without the line: "read() of /data/7.jpg", "recv() of a socket".
std::string describe_call(const ProcessFacts& process);
// " (sample 471, stage decode)"; "" where neither is known.
std::string describe_work(const ProcessFacts& process);

// A snapshot of one process from outside: its state, and its progress.

// All but what only the process itself or others know. `current_work`: null where it makes no
// batches. `root` is "/", or a folder with its own proc for tests.
ProcessFacts take_process_snapshot(pid_t process, const guest::CurrentWork* current_work,
                                   const std::filesystem::path& root = "/");

// Counters that grow while a process makes progress, and stay the same while it hangs.
struct Signs {
  double cpu_s = 0;        // also of what it has started, as a decoder of its own
  std::int64_t wakes = 0;  // wake-ups of its main thread, without those that we cause
  std::int64_t read = 0;   // bytes, by calls
  std::int64_t batch = -1, sample = -1;

  // Returns true if its current work has changed.
  bool has_moved_since(const Signs& before) const;
  // Returns true if it did more in `time` than poll now and then.
  bool was_busy_since(const Signs& before, Nanos time) const;
};
Signs read_signs(pid_t process, const guest::CurrentWork* current_work);

}  // namespace loaderscope::hang
