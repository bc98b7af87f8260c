// The critical path of pipelines in virtual time. T is what a worker needs for a batch, C the
// compute of a step.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

#include "loaderscope/predict.h"
#include "unit/known_answer/known_answer.h"

namespace loaderscope {
namespace {

using known_answer::run;
using namespace known_answer;

const CriticalPath& first_path(const RunRecord& record) {
  return *record.ranks.at(0).critical_path;
}

Nanos path_length(const CriticalPath& path) {
  return std::accumulate(path.stall.begin(), path.stall.end(), path.compute);
}

// T = 16 and one worker that never rests: a batch every 16 ms. The GPU is idle 12 of them, 8 of
// which it copies; but without the copy it would be idle 12 all the same.
constexpr const char* kCopyHidesDecode =
    "workers=1 batch=4 cost=decode=4ms:sleep cost=h2d=8ms copy=sync compute=4ms warmup=5 steps=50";

TEST(CriticalPath, FollowsWorkerThatNeverRests) {
  const RunRecord record = run(kCopyHidesDecode);
  const CriticalPath& path = first_path(record);
  EXPECT_EQ(path.stall[Cause::decode], 50 * 16_ms);
  EXPECT_EQ(path.stall[Cause::h2d], 0);
  EXPECT_EQ(path.compute, 0);
}

TEST(CriticalPath, ChoosesTheVerdictWhereACopyHidesWhatIsSlower) {
  const RunRecord record = run(kCopyHidesDecode);
  Analysis analysis = analyse(record);
  EXPECT_EQ(analysis.account.stall[Cause::h2d], 50 * 8_ms);
  EXPECT_EQ(analysis.removals.basis, RemovalBasis::critical_path);
  EXPECT_EQ(analysis.verdict.bound_by, "decode");
  EXPECT_EQ(analysis.verdict.hidden, Cause::h2d);
  add_findings(analysis, record);
  EXPECT_EQ(analysis.removals.basis, RemovalBasis::model);
  EXPECT_EQ(analysis.removals.saves(Cause::h2d), 0);
  EXPECT_NEAR(analysis.removals.saves(Cause::decode), 0.25, 1e-9);  // then 12 ms for a step
  EXPECT_EQ(analysis.verdict.sentence,
            "Simulated: the GPU waits 75.0 % of the time (±0.0): the limit is decode (the "
            "workers never rest); h2d 50.0 %, but without it nothing is gained");
}

// Four workers: a batch every 4 ms. The copy waits for the compute and the compute for the copy.
TEST(CriticalPath, FollowsCopyIfBatchesAreEarly) {
  const CriticalPath path = first_path(
      run("workers=4 batch=4 cost=decode=4ms:sleep cost=h2d=8ms copy=sync compute=4ms warmup=8 "
          "steps=50"));
  EXPECT_EQ(path.stall[Cause::h2d], 50 * 8_ms);
  EXPECT_EQ(path.compute, 50 * 4_ms);
  EXPECT_EQ(path.stall[Cause::decode], 0);
}

// The pin thread passes a batch every 12 ms; workers and GPU wait for it.
TEST(CriticalPath, FollowsPinThread) {
  const CriticalPath path = first_path(
      run("workers=4 batch=4 cost=decode=1ms:sleep memory=pin-thread cost=pin=12ms:sleep "
          "compute=6ms warmup=10 steps=50"));
  EXPECT_EQ(path.stall[Cause::pin], 50 * 12_ms);
}

// Both ranks compute together; rank 1 needs 21 ms for a batch, rank 0 none of that.
TEST(CriticalPath, FollowsSlowestRank) {
  const RunRecord record =
      run("ranks=2 sync-ranks=true workers=1 batch=1 cost=decode=1ms:sleep "
          "inject=decode=+20ms@rank=1 compute=5ms warmup=6 steps=40");
  for (const RankRecord& rank : record.ranks)
    EXPECT_NEAR(static_cast<double>(rank.critical_path->stall[Cause::decode]),
                static_cast<double>(rank.window()), 25e6);
}

TEST(CriticalPath, CoversWholeWindow) {
  for (const char* settings :
       {"workers=2 batch=4 cost=read=1ms cost=decode=2ms:sleep compute=3ms warmup=8 steps=60",
        "workers=0 batch=4 cost=decode=2ms cost=launch=1ms compute=3ms warmup=8 steps=60",
        "workers=3 batch=2 task=sample cost=decode=4ms cost=collate=1ms compute=3ms warmup=8 "
        "steps=60",
        "workers=2 batch=8 samples=80 cost=startup=50ms cost=decode=2ms:sleep compute=4ms "
        "warmup=10 steps=60"}) {
    SCOPED_TRACE(settings);
    const RunRecord record = run(settings);
    const double window = static_cast<double>(record.ranks[0].window());
    EXPECT_NEAR(static_cast<double>(path_length(first_path(record))), window, 0.02 * window);
  }
}

TEST(CriticalPath, NamesTwoCausesThatHideEachOther) {
  // T = 12, and the trainer launches for 12 ms at the same time. A step takes 12 ms, also without
  // one of the two.
  const RunRecord record =
      run("workers=1 batch=1 cost=decode=12ms:sleep cost=launch=12ms:sleep in-flight=1 compute=1us "
          "warmup=6 steps=40");
  Analysis analysis = analyse(record);
  add_findings(analysis, record);
  EXPECT_TRUE(analysis.verdict.together) << analysis.verdict.sentence;
  EXPECT_FALSE(analysis.verdict.bound_by);
  EXPECT_THAT(analysis.verdict.sentence, testing::HasSubstr("hide one another"));
}

}  // namespace
}  // namespace loaderscope
