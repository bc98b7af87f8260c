// All processes of a job that train: what they are to the job together.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "guest/host/guest_process.h"
#include "guest/host/hook_cost.h"
#include "guest/host/training_process.h"
#include "loaderscope/engine.h"
#include "record/running_account.h"

namespace loaderscope::guest {

class TrainingProcesses {
 public:
  // `given`: how long to measure. It outlives this.
  explicit TrainingProcesses(const RunConfig& given) : given_(given) {}

  // The one that `member` is or works for.
  TrainingProcess& of(const GuestProcess& member);
  void advance(bool no_more);
  void ended(const GuestProcess& member);

  // The measured loaders of those that have one, by the rank of the process.
  std::vector<LoaderHistory*> by_rank();
  const LoaderHistory* first_measured() const;  // null: none has one
  // All loaders of the process whose measured one is the first.
  std::vector<const LoaderHistory*> used_beside_first() const;
  std::int64_t left_out() const;  // facts and spans that led nowhere

  // The window of the job is that of its ranks together.
  bool window_begun() const;
  std::int64_t windows_begun_anew() const;  // once the program began to train
  bool in_window() const;
  bool windows_ended() const;
  Nanos window_end() const;  // as far as it is known
  HookCostSchedule::Seen seen() const;
  Progress progress(RunningAccount& account) const;  // which it fills and points at
  struct Trainer {
    pid_t pid;
    std::int32_t rank;
    bool ended;
    const TrainingProcess* process;
  };
  std::vector<Trainer> trainers() const;
  // How long one has asked for a batch, the longest of them; 0: none does.
  Nanos longest_wait() const;
  // False where there is none.
  bool each_has_taken(std::int64_t batches, std::int64_t of_each_worker) const;

 private:
  struct ProcessOfRank {
    explicit ProcessOfRank(const RunConfig& given) : process(given) {}

    TrainingProcess process;
    std::int32_t rank = 0;
    bool ended = false;
  };

  std::vector<const LoaderHistory*> measured() const;
  bool is_of_no_account(const ProcessOfRank& one) const;

  const RunConfig& given_;
  // A process that runs another program is another one: its loaders have nothing in common.
  using Key = std::pair<pid_t, std::int64_t>;
  static Key key_of(const GuestProcess& member) {
    return {member.training_process(), member.program};
  }
  std::map<Key, ProcessOfRank> processes_;
};

}  // namespace loaderscope::guest
