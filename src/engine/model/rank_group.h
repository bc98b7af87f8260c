// Ranks of a modelled job that share more than the barrier: a storage, hosts that decode, or the
// cores of their host.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/model/simulated_machine.h"
#include "engine/pipeline/loader_plan.h"

namespace loaderscope::model {

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

}  // namespace loaderscope::model
