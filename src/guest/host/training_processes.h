// All training processes of a job.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "guest/host/guest_process.h"
#include "guest/host/hook_cost.h"
#include "guest/host/training_process.h"
#include "guest/protocol/loader_facts.h"
#include "loaderscope/engine.h"
#include "record/running_account.h"

namespace loaderscope::guest {

class TrainingProcesses {
 public:
  // `given`: how long to measure. It outlives this.
  explicit TrainingProcesses(const RunConfig& given) : given_(given) {}

  // Returns the training process of `member`: itself, or the one that it works for.
  TrainingProcess& get_process(const GuestProcess& member);
  void advance(bool no_more);
  void ended(const GuestProcess& member);

  // Returns the measured loaders in the order of their ranks. Processes without one are left out.
  std::vector<LoaderHistory*> rank_histories();
  const LoaderHistory* first_measured() const;  // null: no process has one
  // Returns all loaders of the process that has first_measured().
  std::vector<const LoaderHistory*> first_used_loaders() const;
  std::int64_t left_out() const;  // facts and spans that match no loader

  // The window of the job is that of its ranks together.
  bool window_begun() const;
  std::int64_t restarted_windows() const;  // restarts of the window when a program began to train
  bool is_window_open() const;
  bool windows_ended() const;
  Nanos window_end() const;  // end as far as it is known
  HookCostSchedule::Seen seen() const;
  Progress progress(RunningAccount& account) const;  // fills `account` and points to it
  struct Trainer {
    pid_t pid;
    std::int32_t rank;
    bool ended;
    const TrainingProcess* process;
  };
  std::vector<Trainer> trainers() const;
  // Returns the longest current wait for a batch, or 0 if no process waits.
  Nanos longest_wait() const;
  // Returns true if each process has taken enough batches: `batches`, and `worker_batches` times
  // its workers. Returns false without processes.
  bool each_has_taken(std::int64_t batches, std::int64_t worker_batches) const;

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
  // A process that starts another program counts as a new one: the loaders are unrelated.
  using Key = std::pair<pid_t, std::int64_t>;
  static Key process_key(const GuestProcess& member) {
    return {member.training_process(), member.program};
  }
  std::map<Key, ProcessOfRank> processes_;
};

// Warning about ranks whose epochs differ in length, given as soon as the lengths are known. A step
// that needs all ranks would wait at the end of the shortest epoch until a timeout of many minutes.

// Returns the batches per epoch of a loader, or 0 if unknown.
std::int64_t epoch_batches(const LoaderFacts& loader);

struct RankLength {
  std::int32_t rank;
  std::int64_t batches;
};
// Returns "" if all lengths are equal.
std::string length_sentence(const std::vector<RankLength>& lengths);

class EpochLengths {
 public:
  // Returns a sentence once, as soon as each rank has trained a batch and has reported its length.
  std::optional<std::string> look(const TrainingProcesses& training, Nanos now);

 private:
  Nanos next_look_ = 0;
  bool is_reported_ = false;
};

}  // namespace loaderscope::guest
