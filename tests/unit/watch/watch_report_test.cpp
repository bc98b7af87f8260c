// Printed report of a watched job.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "report/results.h"
#include "unit/report/screen_rows.h"
#include "watch/watch.h"

namespace loaderscope::watch {
namespace {

using loaderscope::test::kRowsOfScreen;
using loaderscope::test::screen_rows;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

// Eight ranks with eight workers each, which wait for storage.
Watch node() {
  Watch watch;
  watch.pid = 4711;
  watch.program = "torchrun --nproc-per-node 8 train.py";
  watch.watched_s = 30;
  watch.samples = 31;
  watch.looks = 6000;
  for (int rank = 0; rank < 8; ++rank) {
    WatchedProcess trainer;
    trainer.pid = 5000 + rank;
    trainer.role = Role::trainer;
    trainer.rank = rank;
    watch.processes.push_back(trainer);
    for (int i = 0; i < 8; ++i) {
      WatchedProcess worker = trainer;
      worker.role = Role::worker;
      worker.number = i;
      worker.where = "read() of /data/\x1b[31m.jpg";
      watch.processes.push_back(worker);
    }
    watch.gpus.push_back({"NVIDIA H100", 0.4, 60e9, 80e9, true});
  }
  watch.workers_seen = 64;
  watch.workers_watched_s = 64 * watch.watched_s;
  watch.workers.waits[static_cast<std::size_t>(ThreadActivity::storage)] = 0.91;
  watch.worker_read_per_s = 2e6;
  watch.worker_storage_per_s = 1e6;
  watch.waits = {true, 0.62, 300, 0.12, 0.05, "600 looks"};
  watch.machine.cores = 112;
  watch.machine.busy_cores = 12;
  watch.map_results = MapResults{3, 1, {"/c/tmpab", "/c/tmpcd"}};
  watch.unseen = {"this", "that"};
  judge(watch);
  return watch;
}

std::string table_text(const Watch& watch, bool verbose) {
  ReportStyle style;
  style.verbose = verbose;
  std::ostringstream out;
  find_row("table", report_table()).write(out, make_result(watch, "1.0"), style);
  return out.str();
}

TEST(WatchReport, FitsAScreenWithTheAnswerFirst) {
  const std::string text = table_text(node(), false);
  EXPECT_THAT(text, StartsWith("The trainer waits for batches 62.0 % of the time: workers never "
                               "rest (capacity)"));
  EXPECT_LE(screen_rows(text), kRowsOfScreen) << text;
  EXPECT_THAT(text, HasSubstr("gpu-busy"));
  EXPECT_THAT(text, HasSubstr("MISSED"));
  EXPECT_THAT(text, HasSubstr("rank 7"));
}

TEST(WatchReport, SaysAllWithVerbose) {
  const std::string text = table_text(node(), true);
  EXPECT_THAT(text, HasSubstr("worker 7.7"));
  EXPECT_THAT(text, HasSubstr("What could not be seen\n- this\n- that"));
  EXPECT_THAT(text, HasSubstr("datasets.map: 3 of 4 results in use lay in the cache"));
  EXPECT_THAT(text, HasSubstr("datasets.map: another is being written now to /c/tmpab and 1 more"));
  EXPECT_THAT(text, Not(HasSubstr("\x1b")));
}

TEST(WatchReport, ReportsUnknownForEmptyWatch) {
  Watch watch;
  judge(watch);
  EXPECT_THAT(table_text(watch, true), StartsWith("Cannot tell"));
}

TEST(WatchThresholds, ChecksOnlyKnownValues) {
  Watch watch = node();
  std::size_t missed = 0, unknown = 0;
  for (const ThresholdOutcome& outcome : watch.thresholds) {
    missed += outcome.is_met == false;
    unknown += !outcome.value_or_reason.value;
    EXPECT_EQ(outcome.value_or_reason.value.has_value(), outcome.value_or_reason.why_not.empty())
        << outcome.name;
  }
  EXPECT_EQ(missed, 4U);   // GPU busy, batch fetch, page cache, map cache
  EXPECT_EQ(unknown, 1U);  // disk
  watch.gpus[3].busy = 0.1;
  watch.gpus[3].is_of_job = false;  // another job's
  EXPECT_DOUBLE_EQ(judge_thresholds(watch).front().value_or_reason.value.value_or(0), 0.4);
}

}  // namespace
}  // namespace loaderscope::watch
