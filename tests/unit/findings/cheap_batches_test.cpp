// Batches that cost less to make than to send, where no model says what a setting gives.
#include <gtest/gtest.h>

#include "loaderscope/findings.h"
#include "unit/findings/users_code.h"

namespace loaderscope {
namespace {

RunRecord with_workers(const std::string& costs) {
  return test::run("batch = 8\nsteps = 160\ncompute = 1ms\nexecutor = processes\nworkers = 4\n" +
                   costs);
}

// Analyses the record as one of a crowded machine: the workers rest, and half of the time their
// batches come too late.
Analysis with_waits_for_depth(const RunRecord& record) {
  Analysis analysis = analyse(record);
  analysis.account.why = {};
  analysis.account.why[Why::depth] = analysis.account.window / 2;
  return analysis;
}

TEST(CheapBatches, PutsNoWorkersBeforeMorePrefetch) {
  const RunRecord record =
      with_workers("cost = decode=10us\ncost = transport=400us\ncost = transport.recv=1400us\n");
  const std::vector<Finding> findings = find_directions(record, with_waits_for_depth(record));
  ASSERT_FALSE(findings.empty());
  EXPECT_EQ(changes_to_text(findings.front().changes), "num-workers=0");
  EXPECT_GT(findings.front().waited, 0.5);
}

TEST(CheapBatches, KeepsWorkersIfMakingTakesMost) {
  const RunRecord record = with_workers(
      "cost = decode=200us\ncost = transport=1ms\ncost = transport.recv=1ms\nprefetch = 1\n");
  const std::vector<Finding> findings = find_directions(record, with_waits_for_depth(record));
  ASSERT_FALSE(findings.empty());
  EXPECT_EQ(findings.front().changes.front().key, "prefetch-factor");
}

}  // namespace
}  // namespace loaderscope
