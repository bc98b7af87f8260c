#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "loaderscope/errors.h"
#include "loaderscope/report.h"
#include "report/results.h"
#include "unit/report/sample_record.h"

namespace loaderscope {
namespace {

using namespace test;
using Outcome = RequirementResult::Outcome;
using testing::HasSubstr;

RequirementResult evaluate(const std::string& text, const RunRecord& record = full_record()) {
  return evaluate_requirement(text, record, analysed(record));
}

Outcome outcome(const std::string& text, const RunRecord& record = full_record()) {
  return evaluate(text, record).outcome;
}

std::string syntax_error(const std::string& text) {
  try {
    check_requirement_syntax(text);
  } catch (const ValueError& error) {
    return error.what();
  }
  return "";
}

TEST(Requirement, ComparesNumbers) {
  EXPECT_EQ(outcome("device.busy >= 0.25"), Outcome::met);
  EXPECT_EQ(outcome("device.busy > 0.25"), Outcome::not_met);
  EXPECT_EQ(outcome("device.busy<0.3"), Outcome::met);
  EXPECT_EQ(outcome("device.busy <= 0.2"), Outcome::not_met);
  EXPECT_EQ(outcome("window.steps == 40"), Outcome::met);
  EXPECT_EQ(outcome("window.steps != 40"), Outcome::not_met);
  EXPECT_EQ(evaluate("device.busy >= 0.85").sentence,
            "--require 'device.busy >= 0.85' is not met: it is 0.25");
}

TEST(Requirement, ShowsValueWithThreeDigits) {
  RunRecord record = full_record();
  const auto said = [&](const std::string& text) { return evaluate(text, record).sentence; };
  const double rate = analysed(record).samples_per_s.mean;
  EXPECT_THAT(said("throughput.samples_per_s.mean >= 1e9"),
              HasSubstr(fmt::format("it is {:.3g}", rate)));
  EXPECT_THAT(said("device.busy >= 0.2501"), HasSubstr("is not met: it is 0.25"));
  EXPECT_THAT(said("device.busy > 25.04 %"), HasSubstr("is not met: it is 25 %"));
  EXPECT_THAT(said("device.busy > 25.001 %"), HasSubstr("is not met: it is 25 %"));
}

std::string junit_text(std::vector<std::string> requirements) {
  RunRecord record = full_record();
  record.config.answer.require.set(std::move(requirements));
  const Analysis analysis = analysed(record);
  std::ostringstream out;
  find_row("junit", report_table()).write(out, make_result(record, analysis), {});
  return out.str();
}

TEST(Requirement, WritesOneTestPerRequirementToJunit) {
  const std::string text = junit_text(
      {"device.busy >= 0.25", "device.busy >= 0.85", "cost.per_day >= 1", "window.steps == 40"});
  EXPECT_THAT(text, HasSubstr("<testsuites name=\"loaderscope\" tests=\"4\" failures=\"1\" "
                              "skipped=\"1\" errors=\"0\">"));
  EXPECT_THAT(text,
              HasSubstr("name=\"device.busy &gt;= 0.85\">\n      <failure message=\"--require "
                        "'device.busy &gt;= 0.85' is not met: it is 0.25\"/>"));
  EXPECT_THAT(text, HasSubstr("name=\"cost.per_day &gt;= 1\">\n      <skipped message="));
  EXPECT_THAT(junit_text({}), HasSubstr("<skipped message=\"none was given"));
}

TEST(Requirement, ToleratesUnits) {
  EXPECT_EQ(outcome("device.busy >= 25 %"), Outcome::met);
  EXPECT_EQ(outcome("stages.decode.p99_s <= 6ms"), Outcome::met);
  EXPECT_EQ(outcome("stages.decode.p99_s < 6ms"), Outcome::not_met);
  EXPECT_EQ(outcome("throughput.samples_per_s.mean >= 160/s"), Outcome::met);
  EXPECT_EQ(outcome("throughput.read_bytes_per_s >= 17MB/s"), Outcome::met);
  EXPECT_EQ(outcome("memory.pinned_bytes <= 64MiB"), Outcome::met);
  EXPECT_EQ(outcome("first_batch.wall_s < 1.5s"), Outcome::not_met);
}

TEST(Requirement, ComparesWordsAndSwitches) {
  EXPECT_EQ(outcome("verdict.bound_by == decode"), Outcome::met);
  EXPECT_EQ(outcome("verdict.bound_by != decode"), Outcome::not_met);
  EXPECT_EQ(outcome("window.steady == true"), Outcome::met);
  EXPECT_EQ(outcome("verdict.withheld_reason == null"), Outcome::met);
  EXPECT_THROW(evaluate("verdict.bound_by >= decode"), UsageError);
  EXPECT_THROW(evaluate("device.busy >= much"), UsageError);
}

TEST(Requirement, ReportsUnknownForWithheldValues) {
  const RunRecord shorter = make_run_record(4, 10, usual_step);
  const RequirementResult result = evaluate("verdict.bound_by == decode", shorter);
  EXPECT_EQ(result.outcome, Outcome::cannot_tell);
  EXPECT_THAT(result.sentence, HasSubstr("cannot be decided: 10 steps were measured"));
  EXPECT_EQ(outcome("device.busy >= 0.2", shorter), Outcome::cannot_tell);
  EXPECT_EQ(outcome("throughput.samples_per_s.mean >= 1", shorter), Outcome::cannot_tell);
  EXPECT_EQ(outcome("window.steps == 10", shorter), Outcome::met) << "a count is exact";
  RunRecord no_compute = usual_record();
  no_compute.config.trainer.device.set("null");
  EXPECT_THAT(evaluate("device.busy > 0.5", no_compute).sentence, HasSubstr("give --compute"));
  EXPECT_EQ(outcome("stages.pin.p99_s < 1ms"), Outcome::cannot_tell);  // did not run
}

TEST(Requirement, ReportsUnknownForUnseenGpu) {
  RunRecord record = full_record();
  record.config.trainer.device.set("script");
  EXPECT_EQ(outcome("device.busy >= 0.25", record), Outcome::met) << "it trains on the CPU";
  record.program = ProgramFacts{{}, {}, true, {}};
  const RequirementResult result = evaluate("device.busy >= 0.25", record);
  EXPECT_EQ(result.outcome, Outcome::cannot_tell);
  EXPECT_THAT(result.sentence, HasSubstr("0.25 of the training as the host saw it"));
  EXPECT_EQ(outcome("throughput.samples_per_s.mean >= 160", record), Outcome::met);
  EXPECT_THAT(table_text(record), HasSubstr("whose own times are not known"));
  record.config.trainer.device.set("cuda");
  EXPECT_EQ(outcome("device.busy >= 0.25", record), Outcome::met);
}

TEST(Requirement, ChecksPathsBeforeTheRun) {
  for (const char* good : {"device.busy >= 0.85", "stages.read.decompress.p999_s<1ms",
                           "queues.ready.mean_occupancy > 1", "memory.rss_bytes < 2GiB",
                           "epoch.predicted_s < 2h", "config.num_workers == 8",
                           "account.why.capacity_s == 0", "first_batch.by_cause.index < 1s"}) {
    EXPECT_EQ(syntax_error(good), "") << good;
  }
  EXPECT_THAT(syntax_error("device.bussy >= 0.85"), HasSubstr("did you mean 'device.busy'?"));
  EXPECT_THAT(syntax_error("devise.busy >= 0.85"), HasSubstr("did you mean 'device.busy'?"));
  EXPECT_THAT(syntax_error("stages.decod.p99_s < 1"),
              HasSubstr("did you mean 'stages.decode.p99_s'?"));
  EXPECT_THAT(syntax_error("busy >= 0.85"), HasSubstr("no value 'busy'"));
  EXPECT_THAT(syntax_error("device >= 0.85"), HasSubstr("no value 'device'"));
}

TEST(Requirement, RejectsTextThatIsNoCondition) {
  for (const char* bad : {"", "device.busy", ">= 1", "device.busy >=", "device.busy = 1",
                          "device.busy => 1", "device.busy >== 1", "device.busy ! 1"}) {
    EXPECT_THAT(syntax_error(bad), HasSubstr("expected PATH OP VALUE")) << bad;
  }
  EXPECT_THROW(evaluate("queues.tasks.max_occupancy > 1"), UsageError);
}

}  // namespace
}  // namespace loaderscope
