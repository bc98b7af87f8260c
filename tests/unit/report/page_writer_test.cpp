// A result as a page.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
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

constexpr std::size_t kMaxSize = 1 << 20;

std::string page_text(const RunRecord& record, const Analysis& analysis) {
  std::ostringstream out;
  write_page(out, make_result(record, analysis));
  return out.str();
}

nlohmann::json carried_by(const std::string& page) {
  const std::string begin = "id=\"result\">\n";
  const std::size_t at = page.find(begin) + begin.size();
  return nlohmann::json::parse(page.substr(at, page.find("</script>", at) - at));
}

TEST(Page, ShowsAnswerFixAccountAndResult) {
  const RunRecord record = full_record();
  Analysis analysis = analysis_with(record, {{"num-workers", "4"}});
  const std::string page = page_text(record, analysis);
  EXPECT_THAT(page, HasSubstr("<h1 class=\"bad\">Simulated: the GPU waits 75.0&nbsp;%"));
  EXPECT_THAT(page, HasSubstr("<b>Fix:</b> num-workers=4 -&gt; 25.0&nbsp;% to"));
  EXPECT_THAT(page, HasSubstr("<pre>DataLoader(..., num_workers=4)</pre>"));
  EXPECT_THAT(page, HasSubstr("data-path=\"account.stall_s.decode\">60.00 ms, 60.0 %</data>"));
  EXPECT_THAT(page, HasSubstr("--batch-size 16 --compute 25ms --try</pre>"));
  const nlohmann::json result = carried_by(page);
  EXPECT_EQ(result.at("schema"), "loaderscope.run/1");
  EXPECT_EQ(result.at("device").at("busy"), 0.25);
  EXPECT_FALSE(result.contains("steps"));
}

TEST(Page, PutsChartBeforeFixAndResultIntoDetails) {
  const RunRecord record = full_record();
  const std::string page = page_text(record, analysis_with(record, {{"num-workers", "4"}}));
  const std::size_t picture = page.find("<h2>Where the time of a step goes</h2>");
  ASSERT_NE(picture, page.npos);
  EXPECT_LT(page.find("<h1"), picture);
  EXPECT_LT(picture, page.find("<b>Fix:</b>"));
  EXPECT_LT(page.find("<details class=\"all\">"), page.find("<div id=\"tree\">"));
  EXPECT_THAT(page.substr(page.find("<h2>Batches ready")), HasSubstr("class=\"k-"));
}

TEST(Page, KeepsLongestStallOfMillionStepsInOneMegabyte) {
  constexpr std::int64_t kSteps = 1'000'000;
  StepPlan usual = make_step_plan(25 * kMillisecond, {});
  StepPlan stalled = usual;
  stalled.stall[Cause::read] = 10 * kSecond;
  const RunRecord record = make_run_record(
      0, kSteps, [&](std::int64_t step) { return step == 777'777 ? stalled : usual; });
  const std::string page = page_text(record, analyse(record));
  EXPECT_LT(page.size(), kMaxSize);
  EXPECT_THAT(page, HasSubstr("The longest step took 10.03 s, which is beyond the top."));
  EXPECT_THAT(page, HasSubstr("The means of 2,500 steps each"));
}

TEST(Page, EscapesMarkupInNames) {
  RunRecord record = full_record();
  record.notes.emplace_back("</script><img src=x onerror=alert(1)>");
  record.details.push_back({"decode", "<b>PIL</b>", 0.9});
  const std::string page = page_text(record, analyse(record));
  EXPECT_THAT(page, Not(HasSubstr("<img")));
  EXPECT_THAT(page, Not(HasSubstr("<b>PIL")));
  EXPECT_EQ(carried_by(page).at("notes").back(), record.notes.back());
}

TEST(Page, DrawsEachMemoryModeOfLink) {
  probe::LinkMatrix matrix;
  matrix.gpu = "NVIDIA <H100>";
  for (Bytes bytes = 64 << 10; bytes <= 64 << 20; bytes *= 4) {
    matrix.bare.push_back({bytes, 55e9});
    for (const MemoryMode memory : {MemoryMode::pageable, MemoryMode::pin_thread})
      for (const CopyMode copy : {CopyMode::sync, CopyMode::async})
        matrix.cells.push_back(
            {memory, copy, bytes, 5e9 + 100.0 * static_cast<double>(bytes), 5e9, 13e9, ""});
  }
  std::ostringstream out;
  write_page(out, make_result(matrix, "1.0"));
  EXPECT_THAT(out.str(), HasSubstr("NVIDIA &lt;H100&gt;: host to device at up to"));
  EXPECT_THAT(out.str(), HasSubstr("Host to device by the size of a copy"));
  EXPECT_THAT(out.str(), HasSubstr("<path class=\"line k-plain\""));
  EXPECT_THAT(out.str(), HasSubstr("data-log"));
  EXPECT_EQ(carried_by(out.str()).at("link").size(), matrix.cells.size());
}

TEST(Page, LinksWordsToTheirEntries) {
  const RunRecord record = full_record();
  const std::string page = page_text(record, test::analysis_with(record, {{"num-workers", "4"}}));
  EXPECT_THAT(page, HasSubstr("href=\"#word-finding-too-few-workers\">too-few-workers</a>"));
  EXPECT_THAT(page, HasSubstr("href=\"#word-cause-decode\">decode</a>"));
  constexpr std::string_view kLink = "href=\"#word-";
  std::size_t links = 0;
  for (auto at = page.find(kLink); at != page.npos; at = page.find(kLink, at + 1), ++links) {
    const std::size_t begin = at + std::string_view("href=\"#").size();
    const std::string place = page.substr(begin, page.find('"', begin) - begin);
    EXPECT_THAT(page, HasSubstr("<dt id=\"" + place + "\">"));
  }
  EXPECT_GT(links, 4U);
}

TEST(Page, RequestsNothingFromServers) {
  const RunRecord record = full_record();
  const std::string page = page_text(record, analyse(record));
  EXPECT_THAT(page, HasSubstr("content=\"default-src 'none'; style-src 'sha256-"));
  for (const char* reference :
       {"src=\"", "href=\"h", "href=\"/", "url(", "@import", "http:", "https:"})
    EXPECT_THAT(page, Not(HasSubstr(reference)));
}

}  // namespace
}  // namespace loaderscope
