// The verdict names what gives most when it is left out, and the account closes, whatever the
// pipeline.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "engine/model/model_engine.h"
#include "loaderscope/engine.h"
#include "loaderscope/errors.h"
#include "loaderscope/predict.h"
#include "property/drawn_pipeline.h"

namespace loaderscope::property {
namespace {

constexpr double kOnePoint = 0.01, kNoGain = 0.02;  // shares of the window

double sample_rate(const RunRecord& record) {
  double rate = 0;
  for (const RankRecord& rank : record.ranks) {
    if (rank.window() > 0) rate += static_cast<double>(rank.samples) / seconds(rank.window());
  }
  return rate;
}

// The share of the window that is saved without `cause`, from a run of the same steps without it.
double saved_without(const RunConfig& config, double rate, Cause cause) {
  RunContext context;
  RunConfig changed = config;
  for (const auto& word : Words<Stage>::table())
    if (word.value != Stage::idle && stage_cause(word.value) == cause)
      context.knockouts.add(word.value);
  if (cause == Cause::contention) changed.declared.cores.value = 65536;
  try {
    const double without = sample_rate(run_model(changed, context));
    return without > 0 ? 1 - rate / without : 1;
  } catch (const RunError&) {
    return 1;  // no remaining stage takes any time
  }
}

struct Trial {
  std::string settings;
  PerCause<double> saves{};
  double most = 0;
  Analysis recorded, fitted;  // verdicts from the record alone, and with the model

  explicit Trial(const std::string& text) : settings(text) {
    const RunConfig config = parse_drawn_settings(text);
    const RunRecord record = run(config);
    const double rate = sample_rate(record);
    recorded = fitted = analyse(record);
    for (const auto& word : Words<Cause>::table()) {
      if (word.value == Cause::other || word.value == Cause::prefetch) continue;
      saves[word.value] = saved_without(config, rate, word.value);
    }
    most = *std::max_element(saves.begin(), saves.end());
    add_findings(fitted, record);
  }

  // A right verdict names a cause whose removal saves most, or no cause if no removal saves time.
  bool is_right(const Analysis& analysis) const {
    const Verdict& verdict = analysis.verdict;
    if (verdict.withheld_reason || verdict.bound_by == "compute") return true;
    if (most < kNoGain) return !verdict.bound_by;
    if (verdict.together) return false;
    return std::any_of(verdict.candidates.begin(), verdict.candidates.end(),
                       [&](Cause cause) { return saves[cause] >= most - kOnePoint; });
  }

  bool is_right_by_account() const {
    const PerCause<Nanos>& stall = recorded.account.stall;
    const auto largest = std::max_element(stall.begin(), stall.end()) - stall.begin();
    return most >= kNoGain && saves.at(static_cast<std::size_t>(largest)) >= most - kOnePoint;
  }

  std::string words(const Analysis& analysis) const {
    std::string text = settings + "\n  " + analysis.verdict.sentence + "\n  saves:";
    for (const auto& word : Words<Cause>::table())
      if (saves[word.value] > 0.001)
        text += fmt::format(" {} {:.3f}", word.name, saves[word.value]);
    return text;
  }
};

TEST(DrawnPipelines, ClosesAccounts) {
  for_each_drawn(60, [](const std::string& settings) {
    SCOPED_TRACE(settings);
    for (const RankRecord& rank : run(parse_drawn_settings(settings)).ranks) {
      const Account account = rank_account(rank);
      EXPECT_EQ(std::accumulate(account.stall.begin(), account.stall.end(), account.compute),
                account.window);
      EXPECT_EQ(account.stall[Cause::other], 0);
    }
  });
}

TEST(DrawnPipelines, NamesCauseThatSavesMost) {
  int all = 0, right_by_record = 0, right_by_model = 0, right_by_account = 0, refused = 0;
  for_each_drawn(60, [&](const std::string& settings) {
    const Trial trial(settings);
    if (trial.recorded.verdict.withheld_reason || trial.recorded.verdict.bound_by == "compute") {
      ++refused;
      return;
    }
    ++all;
    right_by_account += trial.is_right_by_account() ? 1 : 0;
    right_by_record += trial.is_right(trial.recorded) ? 1 : 0;
    const bool right = trial.is_right(trial.fitted);
    right_by_model += right ? 1 : 0;
    EXPECT_TRUE(right) << trial.words(trial.fitted);
    if (!trial.is_right(trial.recorded))
      std::printf("by the record alone: %s\n", trial.words(trial.recorded).c_str());
  });
  std::printf(
      "%d judged, %d not: right %d with the model, %d by the critical path, %d by the account\n",
      all, refused, right_by_model, right_by_record, right_by_account);
  EXPECT_GE(right_by_record, 0.9 * all);
}

}  // namespace
}  // namespace loaderscope::property
