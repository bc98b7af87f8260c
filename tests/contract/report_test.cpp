// What every row of report_table() promises.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <set>
#include <sstream>

#include "loaderscope/report.h"
#include "unit/report/sample_record.h"

namespace loaderscope {
namespace {

using namespace test;

std::string written(const ReportRow& row, const RunRecord& record) {
  std::ostringstream out;
  row.write(out, record, analyse(record), ReportStyle{});
  return out.str();
}

TEST(ReportContract, NamesAreUniqueAndHelpIsOneSentence) {
  std::set<std::string_view> names;
  for (const ReportRow& row : report_table()) {
    EXPECT_TRUE(names.insert(row.row.name).second) << row.row.name;
    EXPECT_TRUE(row.row.help.ends_with('.')) << row.row.name;
    EXPECT_EQ(row.row.reason_not_available(), std::nullopt);
  }
}

TEST(ReportContract, EveryWriterWritesEveryRecordAlikeEachTimeAndEndsItsLastLine) {
  for (const ReportRow& row : report_table()) {
    for (const RunRecord& record :
         {usual_record(), full_record(), two_ranks(), record_of(0, 0, usual_step)}) {
      const std::string text = written(row, record);
      EXPECT_FALSE(text.empty()) << row.row.name;
      EXPECT_EQ(text.back(), '\n') << row.row.name;
      EXPECT_EQ(text, written(row, record)) << row.row.name;
    }
    EXPECT_NO_THROW(written(row, RunRecord{})) << row.row.name;
  }
}

TEST(ReportContract, ReadingAndWritingAgainGivesTheSameReports) {
  const ReportRow& json = find_row("json", report_table());
  for (const ReportRow& row : report_table()) {
    for (const RunRecord& record : {full_record(), two_ranks()}) {
      EXPECT_EQ(written(row, parse_result(written(json, record), "r")), written(row, record))
          << row.row.name;
    }
  }
}

bool python_has_jsonschema(const std::string& python) {
  return std::system((python + " -c 'import jsonschema' > /dev/null 2>&1").c_str()) == 0;
}

TEST(ReportContract, TheJsonIsWhatItsSchemaSays) {
  std::string python = "python3";
  if (!python_has_jsonschema(python)) python = "/usr/bin/python3";
  if (!python_has_jsonschema(python))
    GTEST_SKIP() << "python3-jsonschema is missing; scripts/install-deps test";
  const std::string path = testing::TempDir() + "loaderscope_schema_test.json";
  const std::string schema = std::string(LOADERSCOPE_SOURCE_DIR) + "/reports/run.schema.json";
  for (const RunRecord& record :
       {full_record(), two_ranks(), record_of(0, 0, usual_step), RunRecord{}}) {
    std::ofstream(path) << written(find_row("json", report_table()), record);
    const std::string check =
        python + " -W ignore -m jsonschema -i '" + path + "' '" + schema + "' 2>&1";
    EXPECT_EQ(std::system(check.c_str()), 0);
  }
  std::remove(path.c_str());
}

}  // namespace
}  // namespace loaderscope
