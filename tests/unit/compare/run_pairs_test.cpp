// Which runs are made, in time that only they take.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "experiment/compare/compare.h"
#include "loaderscope/errors.h"

namespace loaderscope::compare {
namespace {

// Of 20 steps of 10 ms; each takes 5 s with its start.
class RunPairs : public testing::Test {
 protected:
  RunPairs() {
    context_.now = [this] { return now_; };
    context_.stopped = [] { return false; };
    context_.run = [this](std::int64_t, const RunLength&) {
      now_ += 5 * kSecond;
      RunRecord record;
      record.engine = "torch";
      RankRecord& rank = record.ranks.emplace_back();
      for (std::int64_t i = 0; i < 20; ++i) {
        StepRow row;
        row.step = i;
        row.idle_begin = i * 10 * kMillisecond;
        row.compute_begin = row.compute_end = row.idle_begin + 10 * kMillisecond;
        row.samples = 8;
        row.stall[Cause::decode] = 10 * kMillisecond;
        rank.rows.push_back(row);
      }
      rank.window_end = 200 * kMillisecond;
      rank.samples = 160;
      return record;
    };
  }

  std::string refusal() {
    try {
      run_pairs(comparison_, context_);
    } catch (const UsageError& error) {
      return error.what();
    }
    return "";
  }

  Comparison comparison_;
  Context context_;
  Nanos now_ = 0;
};

TEST_F(RunPairs, FitIntoTheBudget) {
  comparison_.options.budget = 4 * 60 * kSecond;
  EXPECT_EQ(refusal(), "");
  EXPECT_GE(std::ssize(comparison_.runs), 4 * 3);
  EXPECT_LE(now_, comparison_.options.budget);
}

// What differs from process to process is averaged by processes: a run is not made longer instead.
TEST_F(RunPairs, ALongerBudgetGivesMorePairs) {
  std::vector<std::int64_t> pairs;
  for (const Nanos budget : {4 * 60 * kSecond, 12 * 60 * kSecond}) {
    now_ = 0;
    comparison_ = {};
    comparison_.options.budget = budget;
    EXPECT_EQ(refusal(), "");
    pairs.push_back(comparison_.planned_pairs);
  }
  EXPECT_GT(pairs[1], 2 * pairs[0]);
}

TEST_F(RunPairs, ABudgetOfWhichOthersHaveTheRestIsSpokenOfAsAWhole) {
  comparison_.options.budget = 4 * 60 * kSecond;
  give_share(comparison_.options, 0.25);
  const std::string refused = refusal();
  EXPECT_THAT(refused, testing::StartsWith("--budget 4m: is too short: 1m of it are for 6 pairs"));
  now_ = 0;
  comparison_ = {};
  comparison_.options.budget = parse_duration(refused.substr(refused.rfind(' ') + 1));
  EXPECT_GT(comparison_.options.budget, 4 * 60 * kSecond);
  give_share(comparison_.options, 0.25);
  EXPECT_EQ(refusal(), "");
}

}  // namespace
}  // namespace loaderscope::compare
