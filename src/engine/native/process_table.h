// The worker processes of a job as all its processes see them: in shared memory.
#pragma once

#include <sys/types.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory_resource>
#include <vector>

#include "engine/native/process_mutex.h"
#include "machine/process_counters.h"

namespace loaderscope::native {

// The failure of a worker process, left in shared memory for the process that measures.
class WorkerFailure {
 public:
  void keep(const std::exception_ptr& failure);  // the first one counts
  bool kept() const { return kept_.load(std::memory_order_acquire); }
  [[noreturn]] void rethrow() const;  // the same type with the same words; once it is kept
  void clear();

 private:
  enum class Kind { memory, run, other };
  void write(Kind kind, const char* text);

  std::atomic<bool> taken_{false}, kept_{false};
  Kind kind_ = Kind::other;
  std::array<char, 4096> text_{};
};

// One worker's; a process of the next epoch takes the place of that of the last.
struct WorkerProcess {
  enum class State : std::uint8_t { free, ordered, running, ended };
  State state = State::free;
  pid_t pid = 0;
  int status = 0;           // status from waitpid, once it has ended
  int not_started = 0;      // errno, where it could not be forked
  WorkerFailure failure{};  // written by the worker itself

  bool busy() const { return state == State::ordered || state == State::running; }
};

struct ProcessTable {
  ProcessTable(std::size_t workers, std::pmr::memory_resource& memory)
      : processes(workers, &memory) {}

  ProcessMutex mutex;  // protects all below except the failures
  ProcessCondition changed;
  std::pmr::vector<WorkerProcess> processes;
  EndedProcesses used;  // resources that ended processes used
};

}  // namespace loaderscope::native
