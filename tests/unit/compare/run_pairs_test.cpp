// Plan of the runs of a comparison, with a clock that only the runs advance.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "experiment/compare/compare.h"
#include "loaderscope/errors.h"

namespace loaderscope::compare {
namespace {

// Runs of 20 steps of 10 ms. Each run takes 5 s with its start.
class RunPairs : public testing::Test {
 protected:
  RunPairs() {
    context_.now = [this] { return now_; };
    context_.stopped = [] { return false; };
    context_.run = [this](std::int64_t, const RunLength&) {
      now_ += 5 * kSecond;
      return record();
    };
  }

  static RunRecord record() {
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

TEST_F(RunPairs, FitsIntoBudget) {
  comparison_.options.budget = 4 * 60 * kSecond;
  EXPECT_EQ(refusal(), "");
  EXPECT_GE(std::ssize(comparison_.runs), 4 * 3);
  EXPECT_LE(now_, comparison_.options.budget);
}

// The needed rate is the rate of all ranks.
TEST_F(RunPairs, CountsWorkersOfAllRanks) {
  context_.run = [this](std::int64_t, const RunLength&) {
    now_ += 5 * kSecond;
    RunRecord two = record();
    two.ranks.push_back(std::move(record().ranks.front()));
    two.config.loader.num_workers.set(3);
    return two;
  };
  EXPECT_EQ(refusal(), "");
  EXPECT_EQ(comparison_.workers, 6);
}

// More processes average the differences between processes. Longer runs would not.
TEST_F(RunPairs, PlansMorePairsForLongerBudget) {
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

// A program that can be held up before it makes its loader.
TEST_F(RunPairs, PlansMorePairsWhenRunsStartTogether) {
  std::int64_t alone = 0, together = 0;
  const auto program = [](RunRecord record) {
    record.config.program.loader.set("train.py:make");
    record.machine.cores = 2;
    return record;
  };
  context_.run = [&](std::int64_t, const RunLength&) {
    now_ += 5 * kSecond;
    ++alone;
    return program(record());
  };
  context_.run_two = [&](std::array<std::int64_t, 2> arms, const RunLength& length) {
    EXPECT_EQ(arms, (std::array<std::int64_t, 2>{together % 2, 1 - together % 2})) << "A B B A";
    EXPECT_EQ(length.block, 1 + together / 2);
    now_ += 6 * kSecond;
    ++together;
    return std::array<RunRecord, 2>{program(record()), program(record())};
  };
  comparison_.options.budget = 90 * kSecond;
  EXPECT_EQ(refusal(), "");
  EXPECT_EQ(alone, 2);  // the first two measure the length of a run
  EXPECT_EQ(2 * together, std::ssize(comparison_.runs));
  EXPECT_EQ(comparison_.planned_pairs, together);
  EXPECT_LE(now_, comparison_.options.budget);

  const std::int64_t pairs = comparison_.planned_pairs;
  now_ = 0;
  comparison_ = {};
  comparison_.options.budget = 90 * kSecond;
  context_.run_two = {};
  EXPECT_EQ(refusal(), "");
  EXPECT_LT(comparison_.planned_pairs, pairs);
}

TEST_F(RunPairs, NamesWholeBudgetWhenItsShareIsTooShort) {
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
