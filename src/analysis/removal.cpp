#include "analysis/removal.h"

#include <algorithm>
#include <numeric>

namespace loaderscope {
namespace {

RemovalGains gains_from_shares(RemovalBasis basis, const Account& parts) {
  RemovalGains removals;
  removals.basis = basis;
  for (std::size_t c = 0; c < kCauses; ++c) {
    if (parts.stall.at(c) > 0)
      removals.list.push_back({{static_cast<Cause>(c)}, window_share(parts.stall.at(c), parts)});
  }
  sort_by_saving(removals.list);
  return removals;
}

}  // namespace

void sort_by_saving(std::vector<Removal>& list) {
  std::stable_sort(list.begin(), list.end(),
                   [](const Removal& a, const Removal& b) { return a.saves > b.saves; });
}

double RemovalGains::saves(Cause cause) const {
  for (const Removal& removal : list)
    if (removal.causes.size() == 1 && removal.causes.front() == cause) return removal.saves;
  return 0;
}

std::string_view name_of(RemovalBasis basis) {
  switch (basis) {
    case RemovalBasis::account:
      return "account";
    case RemovalBasis::critical_path:
      return "critical-path";
    case RemovalBasis::model:
      return "model";
  }
  return "?";
}

// Critical paths of ranks are added up to an account of their own.
RemovalGains removal_gains(const RunRecord& record, const Account& account) {
  Account paths;
  for (const RankRecord& rank : record.ranks) {
    if (!rank.critical_path) return gains_from_shares(RemovalBasis::account, account);
    paths.compute += rank.critical_path->compute;
    for (std::size_t c = 0; c < kCauses; ++c) paths.stall.at(c) += rank.critical_path->stall.at(c);
  }
  paths.window = std::accumulate(paths.stall.begin(), paths.stall.end(), paths.compute);
  if (paths.window == 0) return gains_from_shares(RemovalBasis::account, account);
  return gains_from_shares(RemovalBasis::critical_path, paths);
}

}  // namespace loaderscope
