#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

#include "report/markup.h"
#include "report/results.h"
#include "report/text_table.h"
#include "report/writers.h"
#include "unit/report/sample_finding.h"
#include "unit/report/sample_record.h"

namespace loaderscope {
namespace {

using namespace test;
using testing::HasSubstr;
using testing::StartsWith;

TEST(Csv, WritesOneLinePerStep) {
  std::ostringstream out;
  const RunRecord record = two_ranks();
  const Analysis analysis = analyse(record);
  write_csv(out, make_result(record, analysis));
  std::istringstream lines(out.str());
  std::string header, first;
  std::getline(lines, header);
  std::getline(lines, first);
  EXPECT_THAT(header, StartsWith("rank,step,epoch,worker,samples,warmup,first_of_epoch,ask_s,"));
  EXPECT_THAT(header, HasSubstr(",idle_s,compute_s,stall_read_s,stall_decode_s,"));
  EXPECT_THAT(first, StartsWith("0,0,0,0,16,1,0,0.000000000,"));
  EXPECT_EQ(std::count(first.begin(), first.end(), ','),
            std::count(header.begin(), header.end(), ','));
  const std::string all = out.str();
  EXPECT_EQ(std::count(all.begin(), all.end(), '\n'), 1 + 2 * 44);
}

TEST(Markdown, LeadsWithTheAnswer) {
  std::ostringstream out;
  RunRecord record = full_record();
  record.notes = {"<b>bold</b> | *x*"};
  const Analysis analysis = analysis_with(record, {{"num-workers", "4"}});
  write_markdown(out, make_result(record, analysis));
  EXPECT_THAT(out.str(), StartsWith("**Simulated: the GPU waits 75.0 % of the time"));
  EXPECT_THAT(out.str(), HasSubstr("| decode | 60.00 ms | 60.0 % (±0.0) |  |\n"));
  EXPECT_THAT(out.str(), HasSubstr("- \\<b\\>bold\\</b\\> \\| \\*x\\*\n"));
  EXPECT_THAT(out.str(), HasSubstr("\n\nFix: num"));
  EXPECT_THAT(out.str(), HasSubstr("```sh\nloaderscope run --samples 64000 "));
}

// GitHub links and mentions whatever looks like it in the text, also where it is escaped.
TEST(Markdown, EscapesLinksAndMentions) {
  EXPECT_EQ(markdown_text("thank @octocat, see https://a.b/c_d and www.a.b, o/r#12 a_b"),
            "thank `@octocat,` see `https://a.b/c_d` and `www.a.b,` `o/r#12` a\\_b");
  EXPECT_EQ(markdown_text("a|`@b`|c"), "a\\|`` `@b` ``\\|c");
  EXPECT_EQ(markdown_text("decode=+150ms@every=200 |"), "`decode=+150ms@every=200` \\|");
  EXPECT_EQ(markdown_text(" a  b "), " a  b ");
  EXPECT_EQ(code_span(""), "");
  EXPECT_EQ(code_span("a ``b` c"), "```a ``b` c```");
  EXPECT_EQ(code_span("`@a"), "`` `@a ``");
  EXPECT_EQ(code_span("@a\n"), "`@a\\x0a`");
  EXPECT_EQ(shell_block("a ```` b"), "`````sh\na ```` b\n`````\n");
}

TEST(TextTable, AlignsAndLeavesEmptyColumnsOut) {
  TextTable table("lrl", {"name", "n", "empty"});
  table.add({"a", "1", ""});
  table.add({"±b", "22", ""});
  std::ostringstream out;
  table.print(out);
  EXPECT_EQ(out.str(), "  name   n\n  a      1\n  ±b    22\n");
}

TEST(Wrapped, BreaksAtSpaces) {
  EXPECT_EQ(wrapped("one two three four five", 22, 2), "one two three four\n  five");
  EXPECT_EQ(wrapped("averyveryveryverylongwordindeed x", 10, 2),
            "averyveryveryverylongwordindeed\n  x");
  EXPECT_EQ(wrapped("", 10, 2), "");
}

}  // namespace
}  // namespace loaderscope
