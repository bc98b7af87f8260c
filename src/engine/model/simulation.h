// A modelled job: its ranks, and the loop that wakes the next actor in virtual time.
//
// Ranks that share only the barrier are independent from one barrier to the next. Each group of
// ranks that share more has its own time. Groups run one after the other, so that the memory of a
// group stays in the processor's caches. The result is the same.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "engine/model/simulated_machine.h"
#include "engine/model/trainer.h"
#include "engine/pipeline/loader_plan.h"
#include "engine/pipeline/measurement_window.h"
#include "loaderscope/engine.h"

namespace loaderscope::model {

// Ranks of a modelled job that share more than the barrier: a storage, hosts that decode, or the
// cores of their host.
struct RankGroup {
  RankGroup(const LoaderPlan& plan, std::int32_t first, std::int32_t end);

  SimulatedMachine world;
  std::int32_t first_rank, ranks;

  std::int32_t at_barrier = 0;  // ranks that wait there
  bool held = false;            // waits at the barrier while other groups continue
  std::int32_t done = 0;        // ranks whose window is over
  std::int64_t steps = 0;       // steps of all its ranks, in this round
  std::int64_t steps_since_time_moved = 0;
  Nanos time_of_last_step = -1;

  bool is_done() const { return done == ranks; }
};

// Returns the smallest possible groups, in the order of the ranks.
std::vector<RankGroup> groups_of_ranks(const LoaderPlan& plan);

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
    Nanos get_wait = 0;  // sum over the steps of the window
    QueueStats queue{};
    std::int64_t reported = 0;  // steps
    // A step that ended before the same step of the first rank, with a barrier.
    std::optional<StepEvents> early = {};
  };

  // Runs until every rank of the group waits at the barrier, or without a barrier has made some
  // steps. Returns false if nothing happened.
  bool run_round(RankGroup& group);
  bool round_is_over(const RankGroup& group) const;
  struct Barrier {
    Nanos at;           // time at which all ranks continue
    std::int32_t last;  // the rank that they have waited for
  };
  std::optional<Barrier> barrier() const;  // null until all ranks wait at it
  void begin_release(const Barrier& barrier);
  void release(RankGroup& group);
  void wake(std::uint64_t who);
  void ready(std::int32_t rank, Nanos at);
  void step_done(std::int32_t rank, StepEvents& events);
  void fold_step(std::int32_t rank, StepEvents& events);
  void end_rank(std::int32_t rank);
  void end_if_exhausted(std::int32_t rank);
  bool all_done() const;
  void look_outside();  // a signal, the progress line
  Progress progress() const;
  void watch_for_standstill(RankGroup& group, bool window_over) const;

  const LoaderPlan& plan_;
  const RunContext& context_;
  std::vector<RankGroup> groups_;  // sorted by rank
  Folder folder_;
  std::vector<Rank> ranks_;
  std::vector<Nanos> at_barrier_;  // time since which each rank waits
  Nanos resume_time_ = 0;          // end of the previous barrier

  std::int64_t events_ = 0;
  bool interrupted_ = false;
  std::int64_t samples_ = 0;
  ProgressThrottle progress_beat_;
};

}  // namespace loaderscope::model
