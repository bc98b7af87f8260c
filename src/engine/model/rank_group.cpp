#include "engine/model/rank_group.h"

namespace loaderscope::model {
namespace {

// Returns true if two neighbours share only the barrier.
bool are_apart(const LoaderPlan& plan, std::int32_t rank, std::int32_t next) {
  if (plan.storage.shared || plan.cores.decodes_remotely) return false;
  return plan.cores.exclusive || plan.host_of(rank) != plan.host_of(next);
}

}  // namespace

RankGroup::RankGroup(const LoaderPlan& plan, std::int32_t first, std::int32_t end)
    : world(plan, plan.host_of(first), plan.host_of(end - 1) + 1),
      first_rank(first),
      ranks(end - first) {}

std::vector<RankGroup> groups_of_ranks(const LoaderPlan& plan) {
  std::vector<RankGroup> groups;
  std::int32_t first = 0;
  for (std::int32_t end = 1; end <= plan.ranks; ++end) {
    if (end < plan.ranks && !are_apart(plan, end - 1, end)) continue;
    groups.emplace_back(plan, first, end);
    first = end;
  }
  return groups;
}

}  // namespace loaderscope::model
