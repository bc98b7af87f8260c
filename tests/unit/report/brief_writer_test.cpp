// A result as one line per fact.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "report/results.h"
#include "report/writers.h"
#include "unit/report/sample_finding.h"
#include "unit/report/sample_record.h"

namespace loaderscope {
namespace {

using namespace test;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

std::string brief_text(const RunRecord& record, const Analysis& analysis) {
  std::ostringstream out;
  write_brief(out, make_result(record, analysis));
  return out.str();
}

TEST(Brief, WritesAnswerUnderPathsOfJson) {
  const RunRecord record = full_record();
  const std::string text = brief_text(record, analysis_with(record, {{"num-workers", "4"}}));
  EXPECT_THAT(text, StartsWith("schema=loaderscope.run/1\n"));
  EXPECT_THAT(text, HasSubstr("\nverdict.bound_by=decode\n"));
  EXPECT_THAT(text, HasSubstr("\nverdict.sentence=\"Simulated: the GPU waits 75.0 %"));
  EXPECT_THAT(text, HasSubstr("\ndevice.busy=0.25\n"));
  EXPECT_THAT(text, HasSubstr("\naccount.stall_s.decode=2.400000000\n"));
  EXPECT_THAT(text, HasSubstr("\nfindings.0.id=too-few-workers\n"));
  EXPECT_THAT(text, HasSubstr("\nstages.decode.mean_s=0.006000000\n"));
}

TEST(Brief, LeavesOutEmptyValues) {
  const RunRecord record = full_record();
  const std::string text = brief_text(record, analyse(record));
  for (const char* none : {"=0\n", "=0.000000000\n", "null", "=\n", "config", "machine."})
    EXPECT_THAT(text, Not(HasSubstr(none))) << none;
}

TEST(Brief, KeepsFactOnOneLine) {
  RunRecord record = full_record();
  record.notes = {"two\nlines \"quoted\""};
  const std::string text = brief_text(record, analyse(record));
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) EXPECT_NE(line.find('='), line.npos) << line;
  EXPECT_THAT(text, HasSubstr("notes=\"two\\\\x0alines \\\"quoted\\\"\""));
}

TEST(Brief, WritesOnlyFirstFindings) {
  const RunRecord record = full_record();
  Analysis analysis = analysis_with(record, {{"num-workers", "4"}});
  for (int i = 0; i < 4; ++i) analysis.findings.push_back(sample_finding({{"batch-size", "8"}}));
  const std::string text = brief_text(record, analysis);
  EXPECT_THAT(text, HasSubstr("\nfindings.2.id="));
  EXPECT_THAT(text, Not(HasSubstr("\nfindings.3.")));
  EXPECT_THAT(text, HasSubstr("\nfindings.more=2\n"));
}

}  // namespace
}  // namespace loaderscope
