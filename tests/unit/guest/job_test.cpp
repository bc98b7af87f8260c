// Whole jobs of a pretended training program: what is known of them in the end, and how they end.
#include "guest/host/job.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "guest/protocol/bounded.h"
#include "loaderscope/errors.h"
#include "record/partial_run.h"

namespace loaderscope::guest {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

class JobTest : public testing::Test {
 protected:
  JobTest() {
    config_.engine.set("torch");
    config_.trainer.device.value = "script";
    config_.measure.warmup.value = {2, 0};
    config_.measure.duration.value = 0;
    config_.measure.hook_cost.value = false;
    context_.guest.program_output = &printed_;
  }

  RunRecord run(const std::string& kind, int batches = 0) {
    config_.program.command.set({LOADERSCOPE_PRETEND_TRAINER, kind, std::to_string(batches)});
    return Job(config_, context_, config_.program.command.value).run();
  }
  std::string run_error(const std::string& kind, int batches = 0) {
    try {
      run(kind, batches);
    } catch (const RunError& error) {
      return error.what();
    }
    return "";
  }

  RunConfig config_;
  RunContext context_;
  std::string printed_;
};

TEST_F(JobTest, MeasuresUntilProgramEnds) {
  const RunRecord record = run("trains", 12);
  ASSERT_EQ(record.ranks.size(), 1U);
  EXPECT_EQ(record.ranks.front().steps(), 10);
  EXPECT_EQ(record.ranks.front().samples, 80);
  EXPECT_EQ(record.ranks.front().delivered_bytes, 8000);
  EXPECT_GE(record.ranks.front().stages[Stage::decode].wall, 10 * kMillisecond);
  EXPECT_EQ(record.config.loader.num_workers.value, 1);
  EXPECT_EQ(record.config.loader.batch_size.value, 8);
  EXPECT_EQ(record.lost_spans, 0);
  EXPECT_FALSE(record.interrupted);
  EXPECT_THAT(record.notes, Contains("measured is the DataLoader of Photos, made at train.py:12"));
}

TEST_F(JobTest, EndsItsProgramOnceItHasItsSteps) {
  config_.measure.steps.set(5);
  const RunRecord record = run("trains", 1'000'000);
  ASSERT_EQ(record.ranks.size(), 1U);
  EXPECT_EQ(record.ranks.front().steps(), 5);
}

TEST_F(JobTest, CutsLongNames) {
  for (const std::string& note : run("names-at-length", 12).notes)
    EXPECT_LE(note.size(), 2 * kMaxSentence);
}

TEST_F(JobTest, RejectsWorkersWithInvalidNumbers) {
  const RunRecord record = run("joins-with-bad-number", 12);
  EXPECT_EQ(record.ranks.front().steps(), 10);
}

TEST_F(JobTest, IgnoresOverwrittenPages) {
  const RunRecord record = run("writes-over-its-page", 12);
  ASSERT_EQ(record.ranks.size(), 1U);
  EXPECT_GT(record.ranks.front().steps(), 0);
  EXPECT_GT(record.lost_spans, 0);
  EXPECT_THAT(record.notes, Contains(HasSubstr("has written over the memory that it shares")));
}

TEST_F(JobTest, ReceivesMessagesOfWorkerAfterItsTrainerEnds) {
  EXPECT_THAT(run("leaves-a-worker", 12).notes, Contains("last words"));
}

TEST_F(JobTest, NamesSignalThatKilledProgram) {
  EXPECT_THAT(run_error("dies", 12), AllOf(HasSubstr("SIGKILL"), HasSubstr("memory ran out")));
}

TEST_F(JobTest, KeepsStepsOfProgramThatDiesLater) {
  config_.measure.steps.set(5);
  EXPECT_EQ(run("dies", 12).ranks.front().steps(), 5);
}

TEST_F(JobTest, KeepsRecordOfProgramThatFails) {
  try {
    run("dies", 12);
    FAIL() << "it ended well";
  } catch (const PartialRunError& broken) {
    EXPECT_THAT(broken.what(), HasSubstr("SIGKILL"));
    ASSERT_EQ(broken.record->ranks.size(), 1U);
    EXPECT_GE(broken.record->ranks.front().steps(), 5);
  }
}

TEST_F(JobTest, ReportsLastLineOfException) {
  const std::string error = run_error("raises", 12);
  EXPECT_THAT(error, HasSubstr("worker 0: ValueError: no; its traceback is above"));
  EXPECT_THAT(error, Not(HasSubstr("Traceback\n")));
}

TEST_F(JobTest, ReportsRefusalAsWholeError) {
  EXPECT_EQ(run_error("refuses"), "workers: not in this program");
}

TEST_F(JobTest, EndsIfNoBatchComes) {
  config_.measure.timeout.set(kSecond / 2);
  EXPECT_THAT(run_error("waits-for-ever", 3), HasSubstr("no batch came for 500.0 ms"));
}

TEST_F(JobTest, ReportsHangBeforeTimeout) {
  config_.measure.hang_after.set(kSecond / 2);
  config_.measure.timeout.set(3 * kSecond);
  EXPECT_THAT(run_error("waits-for-ever", 3), HasSubstr("standing for 0 s: the trainer (process "));
  EXPECT_THAT(printed_, HasSubstr("loaderscope: standing for 0 s: the trainer (process "));
}

TEST_F(JobTest, NamesDeadWorkerAsReasonOfHang) {
  config_.measure.hang_after.set(kSecond / 2);
  config_.measure.timeout.set(2 * kSecond);
  EXPECT_THAT(run_error("waits-for-the-dead"),
              AllOf(HasSubstr("which has ended; dead-worker: worker 0 (process "),
                    HasSubstr("has ended, and its batch will not come, or give a longer")));
}

TEST_F(JobTest, RejectsProgramsThatTakeNoBatch) {
  EXPECT_THAT(run_error("takes-nothing"),
              HasSubstr("ended without taking a batch from a loader that is known; name the "
                        "function that gives the batches, if it has one: loaderscope run "
                        "--batch-function FILE.py:NAME -- "));
}

TEST_F(JobTest, RejectsProgramsWithoutPython) {
  config_.program.command.set({"true"});
  EXPECT_THROW(Job(config_, context_, config_.program.command.value).run(), RunError);
}

}  // namespace
}  // namespace loaderscope::guest
