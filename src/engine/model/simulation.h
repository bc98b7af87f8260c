// A modelled job: its ranks, and the loop that wakes whoever is next in virtual time.
//
// Ranks that share nothing but the barrier need not know of each other from one barrier to the
// next: each group of those that share more has a time of its own, and groups run one after the
// other, so that what a group touches stays in the processor's caches. For what comes out it is all
// one.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "engine/model/rank_group.h"
#include "engine/model/trainer.h"
#include "engine/pipeline/measurement_window.h"
#include "engine/pipeline/progress_throttle.h"
#include "loaderscope/engine.h"

namespace loaderscope::model {

class Simulation {
 public:
  Simulation(const LoaderPlan& plan, const RunContext& context);

  void run();
  bool interrupted() const { return interrupted_; }
  bool has_steps() const;
  bool input_ended_in_warmup() const;
  std::vector<RankRecord> finish();

 private:
  struct Rank {
    RankGroup* group;
    std::unique_ptr<ModelTrainer> trainer;
    MeasurementWindow window;
    std::int64_t folded = 0;
    bool window_open = false;
    bool done = false;
    Nanos get_wait = 0;  // of the steps of the window
    QueueStats queue{};
  };

  // Until every rank of the group waits at the barrier, or without one has made some steps. False
  // where nothing happened.
  bool run_round(RankGroup& group);
  bool round_is_over(const RankGroup& group) const;
  struct Barrier {
    Nanos at;           // when they go on
    std::int32_t last;  // the rank that they have waited for
  };
  std::optional<Barrier> barrier() const;  // once all ranks wait at it
  void begin_release(const Barrier& barrier);
  void release(RankGroup& group);
  void wake(std::uint64_t who);
  void ready(std::int32_t rank, Nanos at);
  void step_done(std::int32_t rank, StepEvents& events);
  void end_rank(std::int32_t rank);
  void end_if_exhausted(std::int32_t rank);
  bool all_done() const;
  void look_outside();  // a signal, the progress line
  Progress progress() const;
  void watch_for_standstill(RankGroup& group, bool window_over) const;

  const LoaderPlan& plan_;
  const RunContext& context_;
  std::vector<RankGroup> groups_;  // in the order of their ranks
  Folder folder_;
  std::vector<Rank> ranks_;
  std::vector<Nanos> at_barrier_;  // by rank: since when it waits
  Nanos goes_on_ = 0;              // from the barrier before

  std::int64_t events_ = 0;
  bool interrupted_ = false;
  std::int64_t samples_ = 0;
  ProgressThrottle progress_beat_;
};

}  // namespace loaderscope::model
