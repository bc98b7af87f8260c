// Detects that a loader hangs, and reports once per hang where its processes are, while the job
// runs.
#pragma once

#include <sys/types.h>

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/fd.h"
#include "guest/host/message_contents.h"
#include "guest/host/messages.h"
#include "guest/host/training_processes.h"
#include "hang/hang_facts.h"
#include "hang/hang_report.h"
#include "hang/python_stack.h"
#include "loaderscope/units.h"

namespace loaderscope::guest {

// Requests for the Python stacks of those processes of the job that have offered to write them.
class StackRequest {
 public:
  // Sends the signal only to a process that still handles it as offered, and still has its file
  // open. Another process would end, or would write into a file of the program.
  void ask(pid_t process, const StacksMessage& offer);
  // Timeout for answers. Processes answer at once unless they cannot.
  static constexpr Nanos kAnswerTimeout = kSecond / 4;
  // Returns the stacks written since ask(), or nothing if the process has not answered.
  std::vector<hang::PythonThread> read_answer(pid_t process) const;

 private:
  struct Asked {
    Fd memory;
    long before = 0;  // bytes written before the request
  };

  std::map<pid_t, Asked> asked_;
};

// Returns true if `process` handles the signal. The signal would end the process otherwise.
bool takes_signal(pid_t process, int signal);

// Snapshot of all processes of a job: the place where each one is, and the progress of the
// processes that a trainer waits for.

// Facts of the job. All of them outlive this.
struct JobView {
  const TrainingProcesses& training;
  const std::vector<std::unique_ptr<GuestProcess>>& members;
  const Messages& messages;
  const ProcessWatch& processes;
};

// Returns signs of the processes that `trainer` waits for: its worker, its worker processes that
// have not started, or itself.
std::map<pid_t, hang::Signs> signs_for(const JobView& job,
                                       const TrainingProcesses::Trainer& trainer);

// Asks all trainers, and the workers of `root`.
StackRequest ask_for_stacks(const JobView& job, const TrainingProcesses::Trainer& root);

// Combines the answers of the processes into the facts of a hang.
hang::HangFacts take_job_snapshot(const JobView& job, const TrainingProcesses::Trainer& root,
                                  const StackRequest& answers, Nanos now);

class HangWatch {
 public:
  // `least`: shortest time without a batch that may be a hang, however short the steps are. 0 turns
  // detection off.
  HangWatch(const JobView& job, Nanos least) : job_(job), least_(least) {}

  // Call regularly. Returns a report when a loader hangs and its processes have had the time to
  // report their stacks.
  std::optional<hang::HangReport> look(Nanos now);
  // Returns the length of a reported hang once, after the loader has continued.
  std::optional<Nanos> take_ended_hang();

 private:
  using Trainer = TrainingProcesses::Trainer;
  struct Standing {
    pid_t trainer = 0;
    Nanos last = 0;  // time of its last progress

    bool operator==(const Standing&) const = default;
  };
  // A rank that may hang, with the state at `at` of the processes that it waits for.
  struct Suspicion {
    Standing standing;
    Nanos moved_at = 0;  // last time a process is known to have changed its activity
    Nanos at = 0;
    std::map<pid_t, hang::Signs> signs;
    bool is_busy = false;  // a process in `signs` is busy
  };

  static Standing make_standing(const Trainer& trainer);
  const Trainer* find_root(const std::vector<Trainer>& trainers, Nanos now);
  bool is_without_a_rank(const Trainer& waiting, const std::vector<Trainer>& trainers) const;
  bool hangs(const Trainer& asking, Nanos now);
  bool is_still(std::map<pid_t, hang::Signs> signs, Nanos patience, Nanos now);
  std::optional<hang::HangReport> report(const std::vector<Trainer>& trainers, Nanos now);

  const JobView job_;
  const Nanos least_;
  Nanos next_look_ = 0;
  Suspicion suspicion_;
  std::optional<StackRequest> request_;
  Standing root_;                     // the rank of the request, or of the last report
  std::optional<Standing> reported_;  // the reported rank, until it continues
};

}  // namespace loaderscope::guest
