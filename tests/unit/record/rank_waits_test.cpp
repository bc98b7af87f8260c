// Waits in collectives, which look like compute. The steps of all ranks separate the two.
#include "record/rank_waits.h"

#include <gtest/gtest.h>

#include <numeric>
#include <utility>

#include "loaderscope/units.h"

namespace loaderscope {
namespace {

constexpr Nanos kMs = kMillisecond;
constexpr std::int64_t kSteps = 5000;  // more than are looked at at once

// Steps of 100 ms: the rank waits for `read`, then computes up to the end of the step, or for
// `compute` where its steps end on their own.
struct Steps {
  Nanos read = 0;
  Nanos compute = 0;  // 0: up to the end of the step
};

RankRecord make_rank(const Steps& steps, Bytes memory = StepRows::kDefaultMemory) {
  RankRecord rank;
  rank.rows = StepRows(memory);
  Nanos at = 0;
  for (std::int64_t step = 0; step < kSteps; ++step) {
    StepRow row;
    row.step = step;
    row.warmup = step < 5;
    row.idle_begin = at;
    row.compute_begin = at + steps.read;
    row.compute_end = steps.compute > 0 ? row.compute_begin + steps.compute : at + 100 * kMs;
    row.stall[Cause::read] = steps.read;
    row.why[Why::capacity] = steps.read;
    rank.rows.push_back(row);
    if (!row.warmup) rank.stages[Stage::compute].add(row.compute(), kMs, 0, 0);
    at = row.compute_end;
  }
  rank.warmup_steps = 5;
  rank.critical_path.emplace();
  Exemplar exemplar;
  std::vector<StepRow> row(1);
  rank.rows.read(7, row);
  exemplar.row = row.front();
  exemplar.events.step = 7;
  exemplar.events.compute.begin = 7 * 100 * kMs + steps.read;
  rank.exemplars.push_back(exemplar);
  return rank;
}

std::vector<RankRecord> make_ranks(const Steps& one, const Steps& other,
                                   Bytes memory = StepRows::kDefaultMemory) {
  std::vector<RankRecord> ranks;
  ranks.push_back(make_rank(one, memory));
  ranks.push_back(make_rank(other, memory));
  return ranks;
}

void expect_booked_to_the_ns(const RankRecord& rank) {
  Nanos at = 0;
  rank.rows.for_each([&](const StepRow& row) {
    EXPECT_EQ(row.idle_begin, at);
    EXPECT_EQ(std::accumulate(row.stall.begin(), row.stall.end(), Nanos{0}), row.idle());
    EXPECT_LE(std::accumulate(row.why.begin(), row.why.end(), Nanos{0}), row.idle());
    at = row.compute_end;
  });
  EXPECT_EQ(rank.rows.size(), kSteps);
}

TEST(RankWaits, BooksWaitsForSlowestRank) {
  for (const Bytes memory : {StepRows::kDefaultMemory, Bytes{64} << 10}) {
    auto ranks = make_ranks({10 * kMs, 0}, {61 * kMs, 0}, memory);
    ASSERT_TRUE(book_rank_waits(ranks));
    expect_booked_to_the_ns(ranks[0]);
    expect_booked_to_the_ns(ranks[1]);
    ranks[0].rows.for_each([](const StepRow& row) {
      EXPECT_EQ(row.waiting_for_ranks, 51 * kMs);
      EXPECT_EQ(row.stall[Cause::read], 61 * kMs);
      EXPECT_EQ(row.why[Why::capacity], 61 * kMs);
      EXPECT_EQ(row.compute(), 39 * kMs);
    });
    ranks[1].rows.for_each([](const StepRow& row) { EXPECT_EQ(row.waiting_for_ranks, 0); });
    const StageStats& compute = ranks[0].stages[Stage::compute];
    EXPECT_EQ(compute.count, kSteps - 5);
    EXPECT_EQ(compute.wall, (kSteps - 5) * 39 * kMs);
    EXPECT_EQ(compute.cpu, (kSteps - 5) * kMs);
    const Exemplar& exemplar = ranks[0].exemplars.front();
    EXPECT_EQ(exemplar.row.compute_begin, exemplar.events.compute.begin);
    EXPECT_EQ(exemplar.events.compute.begin - exemplar.events.ready, 51 * kMs);
    EXPECT_FALSE(ranks[0].critical_path);
  }
}

TEST(RankWaits, BooksNothingForIndependentRanks) {
  auto ranks = make_ranks({10 * kMs, 30 * kMs}, {61 * kMs, 30 * kMs});
  EXPECT_FALSE(book_rank_waits(ranks));
  EXPECT_EQ(ranks[0].rows.back().waiting_for_ranks, 0);
  EXPECT_EQ(ranks[0].rows.back().compute(), 30 * kMs);
  EXPECT_TRUE(ranks[0].critical_path);
}

TEST(RankWaits, BooksNothingForRanksThatBeginTogether) {
  auto ranks = make_ranks({10 * kMs, 0}, {12 * kMs, 0});
  EXPECT_FALSE(book_rank_waits(ranks));
}

TEST(RankWaits, BooksNothingForFewerThanTwoRanks) {
  std::vector<RankRecord> ranks;
  EXPECT_FALSE(book_rank_waits(ranks));
  ranks.push_back(make_rank({10 * kMs, 0}));
  EXPECT_FALSE(book_rank_waits(ranks));
}

// Extra steps of a rank are its own.
TEST(RankWaits, KeepsStepsThatOnlyOneRankHas) {
  auto ranks = make_ranks({10 * kMs, 0}, {61 * kMs, 0});
  StepRow more = ranks[0].rows.back();
  more.step += 1;
  more.idle_begin = more.compute_end;
  more.compute_begin = more.idle_begin + 10 * kMs;
  more.compute_end = more.compute_begin + 5 * kMs;
  ranks[0].rows.push_back(more);
  EXPECT_EQ(describe_unbooked_waits(make_ranks({10 * kMs, 0}, {61 * kMs, 0})), "");
  ASSERT_TRUE(book_rank_waits(ranks));
  EXPECT_EQ(ranks[0].rows.back(), more);
  EXPECT_EQ(describe_unbooked_waits(ranks),
            "; from step 5000 on one rank at least has none, and of the 1 that are left such waits "
            "stay compute");
}

// Two hosts, the clock of the second `later` and going faster by `drift` a step.
RunRecord make_job(const Steps& one, const Steps& other, Nanos later, Nanos drift = 0) {
  RunRecord job;
  job.ranks = make_ranks(one, other);
  StepRows moved;
  job.ranks[1].rows.for_each([&](StepRow row) {
    row.idle_begin += later + row.step * drift;
    row.compute_begin += later + row.step * drift;
    row.compute_end += later + (row.step + 1) * drift;
    moved.push_back(row);
  });
  job.ranks[1].rows = std::move(moved);
  job.ranks[1].exemplars.clear();
  job.hosts.resize(2);
  for (HostRecord& host : job.hosts) host.ranks = 1;
  return job;
}

TEST(HostWaits, FindsWaitsByEndsOfStepsWithAnyClocks) {
  constexpr Nanos kDays = Nanos{3} * 86'400 * kSecond;
  for (const Nanos later : {Nanos{0}, kDays, -7 * kMs}) {
    for (const Nanos drift : {Nanos{0}, Nanos{2'000}}) {  // 20 us a second
      RunRecord job = make_job({10 * kMs, 0}, {61 * kMs, 0}, later, drift);
      ASSERT_TRUE(book_host_waits(job)) << later;
      const auto& ranks = job.ranks;
      Nanos sum = 0, at = later;
      ranks[0].rows.for_each([&](const StepRow& row) { sum += row.waiting_for_ranks; });
      EXPECT_NEAR(static_cast<double>(sum), 51e6 * kSteps, 6e6 * kSteps);
      if (drift == 0) {
        EXPECT_EQ(sum, 51 * kMs * kSteps);
        expect_booked_to_the_ns(ranks[0]);
      }
      ranks[1].rows.for_each([&](const StepRow& row) {
        EXPECT_EQ(row.idle_begin, at);
        EXPECT_EQ(row.waiting_for_ranks, 0);
        at = row.compute_end;
      });
    }
  }
}

// 200 us a second: within these steps 100 ms, and the ends of steps are not together.
TEST(HostWaits, CorrectsComparedClocksForDrift) {
  const Nanos drift = 20'000;  // a step
  RunRecord job = make_job({10 * kMs, 0}, {61 * kMs, 0}, 0, drift);
  const StepRow last = job.ranks[1].rows.back();
  for (HostRecord& host : job.hosts) host.clock_offset = host.clock_error = 0;
  EXPECT_FALSE(book_host_waits(job));
  job.hosts[1].metrics = {{"clock.drift_rate", "1", "", 200e-6 / (1 + 200e-6)}};
  ASSERT_TRUE(book_host_waits(job));
  expect_booked_to_the_ns(job.ranks[0]);
  // A step of the other host takes 20 us longer by its own clock.
  job.ranks[0].rows.for_each([&](const StepRow& row) {
    EXPECT_NEAR(static_cast<double>(row.waiting_for_ranks), 51e6, 25e3) << row.step;
  });
  EXPECT_EQ(job.ranks[1].rows.back(), last);  // times of its own clock
}

TEST(HostWaits, BooksNothingForIndependentHosts) {
  RunRecord job = make_job({10 * kMs, 80 * kMs}, {20 * kMs, 90 * kMs}, kSecond);
  EXPECT_FALSE(book_host_waits(job));
  // Clocks that were compared are one.
  job = make_job({10 * kMs, 0}, {61 * kMs, 0}, 50 * kMs);
  for (HostRecord& host : job.hosts) host.clock_offset = host.clock_error = 0;
  EXPECT_FALSE(book_host_waits(job));
  job = make_job({10 * kMs, 0}, {61 * kMs, 0}, 0);
  job.hosts.resize(1);
  EXPECT_FALSE(book_host_waits(job));
}

}  // namespace
}  // namespace loaderscope
