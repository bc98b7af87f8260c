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

constexpr double kOnePoint = 0.01, kNoGain = 0.02;  // of the window

double rate_of(const RunRecord& record) {
  double rate = 0;
  for (const RankRecord& rank : record.ranks) {
    if (rank.window() > 0) rate += static_cast<double>(rank.samples) / seconds(rank.window());
  }
  return rate;
}

// Of the window that the same steps take less without it, by running them without it.
double saved_without(const RunConfig& config, double rate, Cause cause) {
  RunContext context;
  RunConfig changed = config;
  for (const auto& word : Words<Stage>::table())
    if (word.value != Stage::idle && cause_of(word.value) == cause)
      context.knockouts.add(word.value);
  if (cause == Cause::contention) changed.declared.cores.value = 65536;
  try {
    const double without = rate_of(run_model(changed, context));
    return without > 0 ? 1 - rate / without : 1;
  } catch (const RunError&) {
    return 1;  // nothing is left that takes any time
  }
}

struct Trial {
  std::string settings;
  PerCause<double> saves{};
  double most = 0;
  Analysis recorded, fitted;  // by the record itself, and with the model

  explicit Trial(const std::string& text) : settings(text) {
    const RunConfig config = config_of(text);
    const RunRecord record = run(config);
    const double rate = rate_of(record);
    recorded = fitted = analyse(record);
    for (const auto& word : Words<Cause>::table()) {
      if (word.value == Cause::other || word.value == Cause::prefetch) continue;
      saves[word.value] = saved_without(config, rate, word.value);
    }
    most = *std::max_element(saves.begin(), saves.end());
    add_findings(fitted, record);
  }

  // What is named gives as much as anything; or it is said that nothing alone gives anything.
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

TEST(DrawnPipelines, AccountsClose) {
  for_each_drawn(60, [](const std::string& settings) {
    SCOPED_TRACE(settings);
    for (const RankRecord& rank : run(config_of(settings)).ranks) {
      const Account account = account_of(rank);
      EXPECT_EQ(std::accumulate(account.stall.begin(), account.stall.end(), account.compute),
                account.window);
      EXPECT_EQ(account.stall[Cause::other], 0);
    }
  });
}

TEST(DrawnPipelines, TheVerdictNamesWhatGivesMost) {
  int all = 0, by_record = 0, by_model = 0, by_account = 0, refused = 0;
  for_each_drawn(60, [&](const std::string& settings) {
    const Trial trial(settings);
    if (trial.recorded.verdict.withheld_reason || trial.recorded.verdict.bound_by == "compute") {
      ++refused;
      return;
    }
    ++all;
    by_account += trial.is_right_by_account() ? 1 : 0;
    by_record += trial.is_right(trial.recorded) ? 1 : 0;
    const bool right = trial.is_right(trial.fitted);
    by_model += right ? 1 : 0;
    EXPECT_TRUE(right) << trial.words(trial.fitted);
    if (!trial.is_right(trial.recorded))
      std::printf("by the record alone: %s\n", trial.words(trial.recorded).c_str());
  });
  std::printf(
      "%d judged, %d not: right %d with the model, %d by the critical path, %d by the account\n",
      all, refused, by_model, by_record, by_account);
  EXPECT_GE(by_record, 0.9 * all);
}

}  // namespace
}  // namespace loaderscope::property
