// A comparison that was saved, and the forms of it that a CI reads.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <regex>
#include <sstream>

#include "loaderscope/errors.h"
#include "report/compare_text.h"
#include "report/detect_kind.h"
#include "report/kinds.h"
#include "report/results.h"
#include "report/saved.h"
#include "report/schemas.h"
#include "unit/compare/sample_comparison.h"

namespace loaderscope::compare {
namespace {

using namespace test;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

std::string form(const Comparison& comparison, std::string_view name) {
  std::ostringstream out;
  find_row(name, report_table()).write(out, make_result(comparison, "1.0"), ReportStyle{});
  return out.str();
}

Comparison read_back(const std::string& json) {
  std::istringstream stream(json);
  const ResultKind& kind = find_row("compare", result_kinds());
  return *parse_saved(kind, stream, "saved").result.comparison;
}

TEST(SavedComparison, SaysTheSameInEveryForm) {
  Comparison unreached;
  unreached.same_because = "only README.md differs";
  for (const Comparison& comparison :
       {slower_decode(), alike(), noisy(), two_results(), unreached, Comparison{}}) {
    const std::string json = form(comparison, "json");
    const Comparison again = read_back(json);
    for (const ReportRow& row : report_table()) {
      if (!row.writes("compare")) continue;
      EXPECT_EQ(form(again, row.row.name), form(comparison, row.row.name)) << row.row.name;
      EXPECT_TRUE(form(comparison, row.row.name).ends_with('\n')) << row.row.name;
    }
  }
}

TEST(SavedComparison, RejectsInvalidJson) {
  const std::string json = form(slower_decode(), "json");
  const std::vector<std::pair<std::string, std::string>> changes = {
      {"loaderscope.compare/1", "loaderscope.compare/2"},
      {"\"arm\": \"A\"", "\"arm\": \"C\""},
      {"\"block\": 0", "\"block\": -1"},
      {"\"runs\": [", "\"runs\": 7, \"x\": ["},
      {"\"same_flags\": true", "\"same_flags\": 1"},
  };
  for (const auto& [there, here] : changes) {
    std::string changed = json;
    ASSERT_NE(changed.find(there), std::string::npos) << there;
    changed.replace(changed.find(there), there.size(), here);
    EXPECT_THROW(read_back(changed), RunError) << here;
  }
  EXPECT_THROW(read_back(json.substr(0, json.size() / 2)), RunError);
}

TEST(ComparisonMarkdown, WritesOneCommentWithAnswerFirst) {
  const std::string text = form(slower_decode(), "markdown");
  EXPECT_THAT(text, StartsWith("<!-- loaderscope-gate -->\n**:red_circle: SLOWER: decode +10.0 %"));
  EXPECT_THAT(text, HasSubstr(": PIL.Image.load 1.800 ms"));
  EXPECT_THAT(text, HasSubstr("|  | A | B | change | 95 % | verdict |\n|---|---:|"));
  EXPECT_THAT(text, HasSubstr("| decode | 2.000 ms | 2.200 ms | +10.0 % |"));
  EXPECT_THAT(text, HasSubstr("Reproduce:\n```sh\nloaderscope compare --a x\n```\n"));
}

// The file may come from an unknown fork.
TEST(ComparisonMarkdown, ShowsWordsOfAStrangerAsCode) {
  Comparison comparison = slower_decode();
  comparison.notes = {"@octocat: ` run [this](https://a.b)"};
  comparison.arms[0].what = "@all, #1";
  comparison.reproduce.clear();
  for (SideRun& run : comparison.runs) {
    for (Detail& detail : run.details) detail.text = "@octocat https://a.b";
  }
  const std::string text = form(comparison, "markdown");
  EXPECT_THAT(text, HasSubstr("\n- ``@octocat: ` run [this](https://a.b)``\n"));
  EXPECT_THAT(text, HasSubstr("\n`A: @all, #1 (3f2c1a9); B: "));
  EXPECT_THAT(text, HasSubstr(": `@octocat` `https://a.b` 1.800 ms"));
  const std::regex span("(`+)[^`](.*?[^`])?\\1(?!`)");
  EXPECT_THAT(std::regex_replace(text, span, ""), Not(HasSubstr("@")));
}

TEST(ComparisonMarkdown, FitsIntoOneComment) {
  Comparison comparison = slower_decode();
  comparison.notes.assign(3000, std::string(60, '*'));
  comparison.arms[1].what = std::string(100'000, '`');
  comparison.reproduce = "``` </details> " + std::string(50'000, '`');
  const std::string text = form(comparison, "markdown");
  EXPECT_LE(text.size(), kMaxComment);
  EXPECT_THAT(text, StartsWith(std::string(kCommentMarker)));
  EXPECT_THAT(text, HasSubstr("The JSON has the parts that are too long for a comment.\n"));
}

TEST(ComparisonJunit, WritesTestForEachQuantity) {
  const std::string text = form(slower_decode(), "junit");
  EXPECT_THAT(text, HasSubstr("name=\"decode\">\n      <failure message=\"decode +10.0 % (+"));
  EXPECT_THAT(text, HasSubstr("name=\"augment\">\n      <system-out>"));
  EXPECT_THAT(text, HasSubstr("name=\"bytes-read\">\n      <system-out>"));
  EXPECT_THAT(form(noisy(), "junit"), HasSubstr("<skipped message=\"samples per s "));
  Comparison strange = slower_decode();
  strange.arms[0].what = "<&\">";
  strange.known = std::nullopt;
  EXPECT_THAT(form(alike(), "junit"), HasSubstr(" failures=\"0\" "));
}

TEST(ComparisonJunit, ReportsNoFailureForHarmlessSlowdown) {
  Comparison comparison = slower_decode();
  comparison.options.rate_needed = 10;
  comparison.options.only_if_it_matters = true;
  EXPECT_THAT(form(comparison, "junit"), Not(HasSubstr("<failure")));
  EXPECT_THAT(form(comparison, "junit"), HasSubstr("the GPU does not wait for it</system-out>"));
  EXPECT_THAT(form(comparison, "annotations"), Not(HasSubstr("::error")));
  EXPECT_THAT(form(comparison, "markdown"), HasSubstr("**:yellow_circle: SLOWER"));
}

TEST(ComparisonAnnotations, NamesFileAndStopsAfterTen) {
  Comparison comparison = slower_decode();
  comparison.file = "src/a,b.py";
  for (SideRun& run : comparison.runs) {
    for (const Stage stage : compared_stages()) {
      const std::string name(name_of(stage));
      if (value_of(run.quantities, name)) continue;
      run.quantities.emplace_back(name, run.arm == 0 ? 1e-3 : 2e-3);
      run.quantities.emplace_back(name + std::string(kWall), run.arm == 0 ? 1e-3 : 2e-3);
    }
  }
  const std::string text = form(comparison, "annotations");
  EXPECT_THAT(text, StartsWith("::error title=loaderscope,file=src/a%2Cb.py,line=1::SLOWER: "));
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 10);
  EXPECT_THAT(text, HasSubstr(" +100.0 %25 ("));
  EXPECT_THAT(form(alike(), "annotations"), StartsWith("::notice title=loaderscope::SAME"));
}

TEST(ComparisonForms, IdentifiesOwnOutput) {
  for (const ReportRow& row : report_table()) {
    if (!row.writes("compare") || row.row.name == "table") continue;
    EXPECT_TRUE(is_result_of_ours(form(slower_decode(), row.row.name))) << row.row.name;
  }
  EXPECT_FALSE(is_result_of_ours("<?xml version=\"1.0\"?>\n<testsuites name=\"pytest\">"));
  EXPECT_FALSE(is_result_of_ours("::error title=ruff::x\n"));
}

}  // namespace
}  // namespace loaderscope::compare
