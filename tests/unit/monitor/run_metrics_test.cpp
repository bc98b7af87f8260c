// The account of a run as values for monitors.
#include "monitor/run_metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "loaderscope/vocabulary.h"
#include "monitor/metrics_text.h"

namespace loaderscope::monitor {
namespace {

using testing::HasSubstr;
using testing::Not;

RunningAccount make_account(std::int64_t steps, Nanos compute, Nanos decode) {
  RunningAccount account;
  account.ranks = 1;
  account.steps = steps;
  account.ready = steps / 2;
  account.samples = 32 * steps;
  account.compute = compute;
  account.stall[Cause::decode] = decode;
  account.window = compute + decode;
  account.queued = 2 * account.window;
  return account;
}

std::string spell(const RunningAccount& account, const RunningAccount& recent) {
  LiveBoard board;
  LiveSamples samples(LiveLabels{});
  add_account_metrics(account, recent, samples);
  board.set(0, samples);
  return metrics_text(board.samples(), TextFormat::prometheus);
}

TEST(RunMetrics, CountsTimesAndBatches) {
  const std::string text =
      spell(make_account(10, 6 * kSecond, 4 * kSecond), make_account(2, 3 * kSecond, kSecond));
  for (const char* line :
       {"loaderscope_limit{loaderscope_limit=\"decode\"} 1\n",
        "loaderscope_limit{loaderscope_limit=\"trainer\"} 0\n",
        "loaderscope_window_seconds_total 10\n", "loaderscope_compute_seconds_total 6\n",
        "loaderscope_wait_seconds_total{cause=\"decode\"} 4\n",
        "loaderscope_wait_seconds_total{cause=\"read\"} 0\n", "loaderscope_batches_total 10\n",
        "loaderscope_batches_ready_total 5\n", "loaderscope_samples_total 320\n",
        "loaderscope_gpu_waiting_ratio 0.25\n", "loaderscope_queued_batches 2\n"})
    EXPECT_THAT(text, HasSubstr(line));
}

TEST(RunMetrics, ShowsOnlyUnknownLimitBeforeFirstStep) {
  const std::string text = spell({}, {});
  EXPECT_THAT(text, HasSubstr("{loaderscope_limit=\"unknown\"} 1\n"));
  EXPECT_THAT(text, Not(HasSubstr("batches")));
}

TEST(RunMetrics, NamesTrainerIfDeviceHardlyWaits) {
  EXPECT_EQ(find_limit(make_account(10, 96, 4)), "trainer");
  EXPECT_EQ(find_limit(make_account(10, 94, 6)), "decode");
  EXPECT_EQ(find_limit({}), "unknown");
}

TEST(RunMetrics, ListsEachCauseAsLimit) {
  EXPECT_EQ(run_limits().size(), Words<Cause>::table().size() + 2);
}

TEST(RecentAccount, ShowsLastMinute) {
  RecentAccount recent;
  EXPECT_EQ(recent.add(0, make_account(10, 10, 0)).steps, 10);
  EXPECT_EQ(recent.add(59 * kSecond, make_account(20, 20, 0)).steps, 20);
  const RunningAccount last = recent.add(60 * kSecond, make_account(25, 20, 5));
  EXPECT_EQ(last.steps, 15);
  EXPECT_EQ(last.compute, 10);
  EXPECT_EQ(last.stall[Cause::decode], 5);
  EXPECT_EQ(last.window, 15);
}

TEST(RecentAccount, StartsAgainWithWindow) {
  RecentAccount recent;
  recent.add(0, make_account(100, 100, 0));
  EXPECT_EQ(recent.add(70 * kSecond, make_account(3, 3, 0)).steps, 3);
}

}  // namespace
}  // namespace loaderscope::monitor
