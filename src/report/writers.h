// Writers for the rows of report_table().
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "loaderscope/report.h"

namespace loaderscope {

class MarkdownPage;  // src/report/markup.h

void write_table(std::ostream& out, const AnyResult& result, const ReportStyle& style);
void write_page(std::ostream& out, const AnyResult& result);
void write_brief(std::ostream& out, const AnyResult& result);
void write_markdown(std::ostream& out, const AnyResult& result);
// Write kinds that have a list for them, see ResultKind.
void write_rows_csv(std::ostream& out, const AnyResult& result);
void write_junit(std::ostream& out, const AnyResult& result);

struct JUnitTest {
  std::string name, message;
  std::optional<bool> passed;  // empty if it cannot be determined
};
struct JUnitSuite {
  std::vector<JUnitTest> tests;
  std::optional<Nanos> duration;
};

// --- Runs ---

void write_run_text(TextReport& reading, const RunRecord& record, const Analysis& analysis,
                    const ReportStyle& style);
std::string draw_run(const RunRecord& record, const Analysis& analysis);
// Draws the picture for the first screen: the ranks if the run has several, else the account of a
// step, which links to the worst stalls among `pictures`.
std::string draw_run_in_short(const RunRecord& record, const Analysis& analysis,
                              const std::string& pictures);
void write_perfetto(std::ostream& out, const AnyResult& result);
void write_chrome_trace(std::ostream& out, const AnyResult& result);
void write_csv(std::ostream& out, const AnyResult& result);
void summarize_run(MarkdownPage& page, const AnyResult& result);
// Returns a test for each requirement in the configuration, or one skipped test without
// requirements.
JUnitSuite requirement_tests(const AnyResult& result);
std::string circumstances_of_run(const AnyResult& result);  // a section of its page

}  // namespace loaderscope
