// The last minute of a watched job, as the difference of two moments.
#include "watch/recent_watch.h"

#include <gtest/gtest.h>

namespace loaderscope::watch {
namespace {

constexpr auto kQueue = static_cast<std::size_t>(ThreadActivity::queue);
constexpr auto kRuns = static_cast<std::size_t>(ThreadActivity::runs);

// A trainer and a worker that were watched for `watched_s`. The trainer waited for `waits_s` of it.
Watch watch_at(double watched_s, double waits_s) {
  Watch watch;
  watch.watched_s = watch.workers_watched_s = watched_s;
  watch.workers_seen = 1;
  watch.waits.is_known = true;
  watch.waits.share = waits_s / watched_s;
  watch.workers.waits[kRuns] = waits_s / watched_s;
  watch.workers.waits[kQueue] = 1 - waits_s / watched_s;
  watch.machine.cores = 2;
  watch.machine.busy_cores = 1;
  WatchedProcess trainer;
  trainer.pid = 7;
  trainer.role = Role::trainer;
  trainer.watched_s = watched_s;
  trainer.shares.waits[kQueue] = watch.waits.share;
  watch.processes = {trainer};
  judge(watch);
  return watch;
}

TEST(RecentWatch, ShowsOnlyTimeSinceThen) {
  const Watch recent = watch_since(watch_at(1000, 0), watch_at(1060, 30));
  EXPECT_DOUBLE_EQ(recent.watched_s, 60);
  EXPECT_DOUBLE_EQ(recent.waits.share, 0.5);
  EXPECT_DOUBLE_EQ(recent.processes.front().shares.waits[kQueue], 0.5);
  EXPECT_DOUBLE_EQ(recent.workers.waits[kRuns], 0.5);
  EXPECT_DOUBLE_EQ(recent.machine.busy_cores, 1);
}

TEST(RecentWatch, JudgesLimitOfLastMinute) {
  EXPECT_EQ(watch_at(1060, 54).limit, Limit::handover);
  EXPECT_EQ(watch_since(watch_at(1000, 0), watch_at(1060, 54)).limit, Limit::cpu);
  EXPECT_EQ(watch_since(watch_at(1000, 1000), watch_at(1060, 1000)).limit, Limit::trainer);
}

TEST(RecentWatch, KeepsWholeTimeUntilMinuteHasPassed) {
  RecentWatch recent;
  for (int s = 1; s <= 60; ++s) EXPECT_DOUBLE_EQ(recent.add(watch_at(s, 0)).watched_s, s);
  EXPECT_DOUBLE_EQ(recent.add(watch_at(61, 0)).watched_s, 60);
  for (int s = 62; s <= 200; ++s) {
    const double watched_s = recent.add(watch_at(s, 0)).watched_s;
    EXPECT_GE(watched_s, RecentWatch::kSeconds);
    EXPECT_LT(watched_s, RecentWatch::kSeconds + RecentWatch::kApart);
  }
}

TEST(RecentWatch, StartsAgainWithSampler) {
  RecentWatch recent;
  recent.add(watch_at(1, 0));
  recent.add(watch_at(70, 0));
  EXPECT_DOUBLE_EQ(recent.add(watch_at(2, 1)).waits.share, 0.5);
}

TEST(RecentWatch, KeepsSharesOfNewProcesses) {
  Watch before = watch_at(100, 0), now = watch_at(160, 30);
  now.processes.front().pid = 8;
  now.processes.front().watched_s = 10;
  EXPECT_DOUBLE_EQ(watch_since(before, now).processes.front().shares.waits[kQueue], 30.0 / 160);
}

}  // namespace
}  // namespace loaderscope::watch
