// Detects that a loader hangs, and reports once per hang where its processes are, while the job
// runs.
#pragma once

#include <sys/types.h>

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "guest/host/job_snapshot.h"
#include "hang/hang_report.h"

namespace loaderscope::guest {

class HangWatch {
 public:
  // `least`: shortest time without a batch that may be a hang, however short the steps are. 0 turns
  // detection off.
  HangWatch(const JobView& job, Nanos least) : job_(job), least_(least) {}

  // Call regularly. Returns a report when a loader hangs and its processes have had the time to
  // report their stacks.
  std::optional<hang::HangReport> look(Nanos now);
  // Returns the length of a reported hang once, after the loader has continued.
  std::optional<Nanos> goes_on();

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

  static Standing standing_of(const Trainer& trainer);
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
  Standing root_;                 // the rank of the request, or of the last report
  std::optional<Standing> told_;  // the reported rank, until it continues
};

}  // namespace loaderscope::guest
