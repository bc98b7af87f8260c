#include "analysis/removal.h"

#include <algorithm>
#include <future>
#include <numeric>

#include "loaderscope/engine.h"
#include "loaderscope/errors.h"
#include "settings/world_changes.h"

namespace loaderscope {
namespace {

constexpr double kLookedAt = 0.002;  // of the window, that a cause has of the account or the path

void sort_by_saving(std::vector<Removal>& list) {
  std::stable_sort(list.begin(), list.end(),
                   [](const Removal& a, const Removal& b) { return a.saves > b.saves; });
}

Removals by_shares(RemovalBasis basis, const Account& parts) {
  Removals removals;
  removals.basis = basis;
  for (std::size_t c = 0; c < kCauses; ++c) {
    if (parts.stall.at(c) > 0)
      removals.list.push_back({{static_cast<Cause>(c)}, share_of(parts.stall.at(c), parts)});
  }
  sort_by_saving(removals.list);
  return removals;
}

// How the model runs without a cause.
struct Without {
  Knockouts knockouts;
  Changes changes;

  bool possible() const { return !knockouts.empty() || !changes.empty(); }
};

Without without(Cause cause, const RunConfig& config) {
  switch (cause) {
    case Cause::read:
      return {{Stage::read, Stage::read_decompress}, {}};
    case Cause::decode:
      return {{Stage::decode}, {}};
    case Cause::augment:
      return {{Stage::augment}, {}};
    case Cause::collate:
      return {{Stage::collate}, {}};
    case Cause::opaque:
      return {{Stage::opaque}, {}};
    case Cause::transport:
      return {{Stage::transport, Stage::transport_recv}, {}};
    case Cause::pin:
      return {{Stage::pin}, {}};
    case Cause::h2d:
      return {{Stage::h2d}, {}};
    case Cause::launch:
      return {{Stage::launch}, {}};
    case Cause::startup:
      return {{Stage::startup, Stage::startup_parent}, {}};
    case Cause::contention:
      return {{},
              {{"cores", "65536"},
               {"num-workers", std::to_string(config.loader.num_workers)},
               {std::string(kOtherThreads), "0"}}};
    case Cause::prefetch:
    case Cause::other:
      return {};
  }
  return {};
}

Without without(const std::vector<Cause>& causes, const RunConfig& config) {
  Without all;
  for (Cause cause : causes) {
    const Without one = without(cause, config);
    if (!one.possible()) return {};
    for (const auto& word : Words<Stage>::table())
      if (one.knockouts.has(word.value)) all.knockouts.add(word.value);
    all.changes.insert(all.changes.end(), one.changes.begin(), one.changes.end());
  }
  return all;
}

// A run that is left without any cost takes no time: it saves all of it.
double saving(const Prediction& after) {
  if (after.account.window <= 0 || after.gain() <= 0) return 1;
  return std::max(0.0, 1 - 1 / after.gain());
}

// Each on a core of its own, as far as there are any.
std::vector<Removal> run_without(const std::vector<std::vector<Cause>>& sets,
                                 const Prediction& base, const PredictWithout& predict) {
  std::vector<std::future<Removal>> running;
  for (const std::vector<Cause>& causes : sets) {
    const Without out = without(causes, base.config);
    if (!out.possible()) continue;
    running.push_back(std::async(std::launch::async, [causes, out, &predict] {
      try {
        return Removal{causes, saving(predict(out.changes, out.knockouts))};
      } catch (const UsageError&) {
        return Removal{causes, 0};  // it does not go together with the other settings
      } catch (const RunError&) {
        return Removal{causes, 1};  // nothing takes any time
      }
    }));
  }
  std::vector<Removal> removals;
  for (auto& one : running) removals.push_back(one.get());
  sort_by_saving(removals);
  return removals;
}

std::vector<std::vector<Cause>> worth_a_look(const Removals& recorded, const Account& account) {
  std::vector<std::vector<Cause>> sets;
  for (std::size_t c = 0; c < kCauses; ++c) {
    const auto cause = static_cast<Cause>(c);
    if (std::max(recorded.saves(cause), share_of(account.stall[cause], account)) >= kLookedAt)
      sets.push_back({cause});
  }
  return sets;
}

// What hides something has the largest part of the account; what it hides may have none.
std::vector<std::vector<Cause>> pairs_with_largest(const Account& account) {
  const auto largest = static_cast<Cause>(
      std::max_element(account.stall.begin(), account.stall.end()) - account.stall.begin());
  std::vector<std::vector<Cause>> pairs;
  for (const auto& word : Words<Cause>::table())
    if (word.value != largest) pairs.push_back({largest, word.value});
  return pairs;
}

}  // namespace

double Removals::saves(Cause cause) const {
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
Removals removals_of(const RunRecord& record, const Account& account) {
  Account paths;
  for (const RankRecord& rank : record.ranks) {
    if (!rank.critical_path) return by_shares(RemovalBasis::account, account);
    paths.compute += rank.critical_path->compute;
    for (std::size_t c = 0; c < kCauses; ++c) paths.stall.at(c) += rank.critical_path->stall.at(c);
  }
  paths.window = std::accumulate(paths.stall.begin(), paths.stall.end(), paths.compute);
  if (paths.window == 0) return by_shares(RemovalBasis::account, account);
  return by_shares(RemovalBasis::critical_path, paths);
}

Removals removals_in_model(const Removals& recorded, const Account& account, const Prediction& base,
                           double error, const PredictWithout& predict) {
  Removals removals;
  removals.basis = RemovalBasis::model;
  removals.error = error;
  removals.list = run_without(worth_a_look(recorded, account), base, predict);
  if (!removals.list.empty() && removals.list.front().saves >= kWorthMending) return removals;
  for (Removal& pair : run_without(pairs_with_largest(account), base, predict)) {
    if (pair.saves >= kWorthMending) removals.list.push_back(std::move(pair));
  }
  sort_by_saving(removals.list);
  return removals;
}

}  // namespace loaderscope
