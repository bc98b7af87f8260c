// Finds out that a loader hangs, and reports where its processes stand: once each time, while the
// job goes on.
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
  // `least`: for how long no batch is no wonder, however short the steps are; 0: for ever.
  HangWatch(const JobView& job, Nanos least) : job_(job), least_(least) {}

  // Now and then. Something once a loader turns out to hang, when its processes have had the time
  // to say where they stand.
  std::optional<hang::HangReport> look(Nanos now);
  // Once one goes on that was reported: how long it had stood.
  std::optional<Nanos> goes_on();

 private:
  using Trainer = TrainingProcesses::Trainer;
  struct Standing {
    pid_t trainer = 0;
    Nanos last = 0;  // when it went on last

    bool operator==(const Standing&) const = default;
  };
  // A rank may hang: how those were, at `at`, that it waits for.
  struct Suspicion {
    Standing standing;
    Nanos moved_at = 0;  // one of them went on to something else, as far as is known
    Nanos at = 0;
    std::map<pid_t, hang::Signs> signs;
    bool is_busy = false;  // one of them is
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
  Standing root_;                 // of the request, or of what was reported
  std::optional<Standing> told_;  // until it goes on
};

}  // namespace loaderscope::guest
