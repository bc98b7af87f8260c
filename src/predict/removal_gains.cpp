#include "predict/removal_gains.h"

#include <algorithm>
#include <future>

#include "analysis/removal.h"
#include "loaderscope/errors.h"
#include "record/environment_changes.h"

namespace loaderscope {
namespace {

constexpr double kLookedAt = 0.002;  // share of the window, in the account or on the critical path

// The changes with which the model runs without a cause.
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
        return Removal{causes, 0};  // the change contradicts other settings
      } catch (const RunError&) {
        return Removal{causes, 1};  // no stage takes time
      }
    }));
  }
  std::vector<Removal> removals;
  for (auto& one : running) removals.push_back(one.get());
  sort_by_saving(removals);
  return removals;
}

std::vector<std::vector<Cause>> worth_a_look(const RemovalGains& recorded, const Account& account) {
  std::vector<std::vector<Cause>> sets;
  for (std::size_t c = 0; c < kCauses; ++c) {
    const auto cause = static_cast<Cause>(c);
    if (std::max(recorded.saves(cause), share_of(account.stall[cause], account)) >= kLookedAt)
      sets.push_back({cause});
  }
  return sets;
}

// A cause that hides another one has the largest part of the account. The hidden one may have none.
std::vector<std::vector<Cause>> pairs_with_largest(const Account& account) {
  const auto largest = static_cast<Cause>(
      std::max_element(account.stall.begin(), account.stall.end()) - account.stall.begin());
  std::vector<std::vector<Cause>> pairs;
  for (const auto& word : Words<Cause>::table())
    if (word.value != largest) pairs.push_back({largest, word.value});
  return pairs;
}

}  // namespace

RemovalGains removals_in_model(const RemovalGains& recorded, const Account& account,
                               const Prediction& base, double error,
                               const PredictWithout& predict) {
  RemovalGains removals;
  removals.basis = RemovalBasis::model;
  removals.error = error;
  removals.list = run_without(worth_a_look(recorded, account), base, predict);
  if (!removals.list.empty() && removals.list.front().saves >= kMinUsefulGain) return removals;
  for (Removal& pair : run_without(pairs_with_largest(account), base, predict)) {
    if (pair.saves >= kMinUsefulGain) removals.list.push_back(std::move(pair));
  }
  sort_by_saving(removals.list);
  return removals;
}

}  // namespace loaderscope
