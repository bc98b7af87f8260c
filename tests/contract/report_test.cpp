// Checks the contract of every row of report_table().
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "loaderscope/engine.h"
#include "loaderscope/findings.h"
#include "loaderscope/predict.h"
#include "loaderscope/report.h"
#include "predict/fitted_model.h"
#include "report/results.h"
#include "report/saved.h"
#include "report/schemas.h"
#include "report/what_if_report.h"
#include "report/writers.h"
#include "unit/report/page_figures.h"
#include "unit/report/sample_record.h"
#include "unit/report/sample_results.h"

namespace loaderscope {
namespace {

using namespace test;

std::string written(const ReportRow& row, const RunRecord& record,
                    const std::optional<Proof>& proof = full_proof()) {
  std::ostringstream out;
  const Analysis analysis = analysed(record, proof);
  row.write(out, make_result(record, analysis), ReportStyle{});
  return out.str();
}

TEST(ReportContract, UsesUniqueNamesAndHelpOfOneSentence) {
  std::set<std::string_view> names;
  for (const ReportRow& row : report_table()) {
    EXPECT_TRUE(names.insert(row.row.name).second) << row.row.name;
    EXPECT_TRUE(row.row.help.ends_with('.')) << row.row.name;
    for (const std::string_view kind : row.kinds) EXPECT_NO_THROW(find_row(kind, result_kinds()));
    EXPECT_EQ(row.row.reason_not_available(), std::nullopt);
  }
}

TEST(ReportContract, WritesEqualTextEachTimeAndEndsLastLine) {
  for (const ReportRow& row : report_table()) {
    if (!row.writes("run")) continue;
    for (const RunRecord& record :
         {usual_record(), full_record(), two_ranks(), make_run_record(0, 0, usual_step)}) {
      const std::string text = written(row, record);
      EXPECT_FALSE(text.empty()) << row.row.name;
      if (row.is_text) {
        EXPECT_EQ(text.back(), '\n') << row.row.name;
      }
      EXPECT_EQ(text, written(row, record)) << row.row.name;
    }
    EXPECT_NO_THROW(written(row, RunRecord{})) << row.row.name;
  }
}

TEST(ReportContract, WritesEqualReportsAfterReadingBack) {
  const ReportRow& json = find_row("json", report_table());
  for (const ReportRow& row : report_table()) {
    if (!row.writes("run")) continue;
    for (const RunRecord& record : {full_record(), two_ranks()}) {
      const SavedRun read = parse_result(written(json, record), "r");
      EXPECT_EQ(written(row, read.record, read.proof), written(row, record)) << row.row.name;
    }
  }
}

bool python_has_jsonschema(const std::string& python) {
  return std::system((python + " -c 'import jsonschema' > /dev/null 2>&1").c_str()) == 0;
}

// A python with jsonschema; "" if none is installed.
std::string schema_python() {
  for (const char* python : {"python3", "/usr/bin/python3"}) {
    if (python_has_jsonschema(python)) return python;
  }
  return "";
}

void expect_valid(const std::string& json, const std::string& schema_name) {
  const std::string path =
      testing::TempDir() + "loaderscope_schema_test." + std::to_string(::getpid()) + ".json";
  const std::string schema = std::string(LOADERSCOPE_SOURCE_DIR) + "/reports/" + schema_name;
  std::ofstream(path) << json;
  const std::string check =
      schema_python() + " -W ignore -m jsonschema -i '" + path + "' '" + schema + "' 2>&1";
  EXPECT_EQ(std::system(check.c_str()), 0);
  std::remove(path.c_str());
}

TEST(ReportContract, KeepsSchemaOfEveryKindUpToDate) {
  std::set<std::string_view> names;
  for (const ResultKind& kind : result_kinds()) {
    const std::string name(kind.row.name);
    EXPECT_TRUE(names.insert(kind.row.name).second) << name;
    const std::string file = "reports/" + name + ".schema.json";
    std::ifstream schema(std::string(LOADERSCOPE_SOURCE_DIR) + "/" + file);
    std::ostringstream there, generated;
    there << schema.rdbuf();
    write_schema(generated, kind);
    EXPECT_TRUE(there.str() == generated.str())
        << file << " is another; run loaderscope report --schema " << name << " > " << file;
  }
}

TEST(ReportContract, WritesJsonThatMatchesSchema) {
  if (schema_python().empty())
    GTEST_SKIP() << "python3-jsonschema is missing; scripts/install-deps test";
  for (const RunRecord& record :
       {full_record(), two_ranks(), make_run_record(0, 0, usual_step), RunRecord{}}) {
    expect_valid(written(find_row("json", report_table()), record), "run.schema.json");
  }
}

// A run with findings, which the records of the other tests lack.
TEST(ReportContract, WritesFindingsThatMatchSchema) {
  if (schema_python().empty())
    GTEST_SKIP() << "python3-jsonschema is missing; scripts/install-deps test";
  const RunRecord record = modelled_run();
  Analysis analysis = analyse(record);
  add_findings(analysis, record);
  ASSERT_FALSE(analysis.findings.empty());
  std::ostringstream run;
  find_row("json", report_table()).write(run, make_result(record, analysis), ReportStyle{});
  expect_valid(run.str(), "run.schema.json");
}

// A model that does not fit the run gives no number that a reader could quote.
TEST(ReportContract, WritesNullWithoutPrediction) {
  if (schema_python().empty())
    GTEST_SKIP() << "python3-jsonschema is missing; scripts/install-deps test";
  const RunRecord record = modelled_run();
  Analysis analysis = analyse(record);
  add_findings(analysis, record);
  ASSERT_FALSE(analysis.findings.empty());
  analysis.fit->rate_error = 0.49;
  analysis.findings = find_directions(record, analysis);
  std::ostringstream run, answer;
  find_row("json", report_table()).write(run, make_result(record, analysis), ReportStyle{});
  expect_valid(run.str(), "run.schema.json");
  EXPECT_NE(run.str().find("\"predicted\": null"), std::string::npos);
  EXPECT_NE(run.str().find("\"regained_s\": null"), std::string::npos);
  WhatIf what_if;
  what_if.fitted = what_if_case("fitted", FittedModel(record).fitted());
  what_if.measured = what_if_case("measured", analysis);
  what_if.fit = analysis.fit;
  write_json(answer, make_result(what_if, "1.0"));
  expect_valid(answer.str(), "what-if.schema.json");
  EXPECT_NE(answer.str().find("\"gain\": null"), std::string::npos);
}

std::string to_json_text(const AnyResult& result) {
  std::ostringstream out;
  write_json(out, result);
  return out.str();
}

TEST(ReportContract, CoversEveryKindWithSample) {
  std::set<std::string_view> sampled = {"run"};
  for (const SavedResult& sample : sample_results()) sampled.insert(sample.result.kind);
  for (const ResultKind& kind : result_kinds())
    EXPECT_TRUE(sampled.contains(kind.row.name)) << kind.row.name;
}

TEST(ReportContract, WritesEveryKindAsItsSchemaStates) {
  if (schema_python().empty())
    GTEST_SKIP() << "python3-jsonschema is missing; scripts/install-deps test";
  for (const SavedResult& sample : sample_results())
    expect_valid(to_json_text(sample.result), std::string(sample.result.kind) + ".schema.json");
}

TEST(ReportContract, ReadsEveryKindBackForEveryWriter) {
  for (const SavedResult& sample : sample_results()) {
    const ResultKind& kind = find_row(sample.result.kind, result_kinds());
    ASSERT_NE(kind.read, nullptr) << kind.row.name;
    std::istringstream stored(to_json_text(sample.result));
    const SavedResult read = parse_saved(kind, stored, "saved");
    for (const ReportRow& row : report_table()) {
      if (!row.writes(kind.row.name)) continue;
      std::ostringstream first, again;
      row.write(first, sample.result, {.verbose = true});
      row.write(again, read.result, {.verbose = true});
      EXPECT_EQ(again.str(), first.str()) << kind.row.name << " as " << row.row.name;
    }
  }
}

TEST(ReportContract, RejectsCutResultAndOtherKind) {
  const ResultKind& tune = find_row("tune", result_kinds());
  for (const SavedResult& sample : sample_results()) {
    const ResultKind& kind = find_row(sample.result.kind, result_kinds());
    const std::string text = to_json_text(sample.result);
    std::istringstream cut(text.substr(0, text.size() / 2)), whole(text);
    EXPECT_THROW(parse_saved(kind, cut, "saved"), RunError) << kind.row.name;
    if (kind.row.name != tune.row.name) {
      EXPECT_THROW(parse_saved(tune, whole, "saved"), RunError) << kind.row.name;
    }
  }
}

TEST(ReportContract, ShowsFiguresOfResultOnPage) {
  std::map<std::string_view, std::size_t> most;
  for (const SavedResult& sample : sample_results()) {
    std::ostringstream out;
    write_page(out, sample.result);
    const nlohmann::json result = result_carried_by(out.str());
    const std::vector<PageFigure> figures = find_figures(out.str());
    for (const PageFigure& figure : figures)
      EXPECT_NEAR(figure.value, value_at(result, figure.path), 1e-6)
          << sample.result.kind << ": " << figure.path;
    most[sample.result.kind] = std::max(most[sample.result.kind], figures.size());
  }
  EXPECT_GE(most["sweep"], 8U);
  EXPECT_GE(most["tune"], 8U);
  EXPECT_GE(most["compare"], 10U);
  EXPECT_GE(most["probe"], 4U);
}

// Puts something into every text of a result.
class PutEverywhere : public ResultVisitor {
 public:
  explicit PutEverywhere(std::string put) : ResultVisitor(VisitMode::write), put_(std::move(put)) {}
  void text(Name, std::string& value, Sentence) override { value += put_; }
  void word(Name, std::string&, const std::vector<std::string_view>&, Sentence) override {}
  void flag(Name, bool&, Sentence) override {}
  void whole(Name, std::int64_t&, Sentence, IntegerRange) override {}
  void real(Name, double&, Sentence, RealRange) override {}
  void seconds(Name, Nanos&, Sentence, IntegerRange) override {}
  void settings(RunConfig&) override {}
  using ResultVisitor::whole;
  using ResultVisitor::word;

 protected:
  void enter(Name, Shape, Sentence, Lines) override {}
  void leave() override {}
  bool begins(Name, bool there, AbsentValue) override { return there; }

 private:
  std::string put_;
};

TEST(ReportContract, EscapesForeignTextOnPageOfEveryKind) {
  const std::string hostile =
      "</script><img src=x onerror=alert(1)>\"'&\x1b[31m\xe2\x80\xae\xff\n]]>";
  for (SavedResult& sample : sample_results()) {
    PutEverywhere form(hostile);
    sample.result.describe(form);
    std::ostringstream out;
    write_page(out, sample.result);
    std::string page = out.str();
    page.erase(
        page.rfind("<script type=\"application/json\""));  // the JSON, which its reader escapes
    EXPECT_EQ(page.find("<img"), page.npos) << sample.result.kind;
    EXPECT_EQ(page.find('\x1b'), page.npos) << sample.result.kind;
    EXPECT_EQ(page.find("\xe2\x80\xae"), page.npos) << sample.result.kind;
    EXPECT_EQ(page.find('\xff'), page.npos) << sample.result.kind;
  }
}

}  // namespace
}  // namespace loaderscope
