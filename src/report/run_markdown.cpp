// A run as a comment on a pull request.
#include <fmt/format.h>

#include "analysis/verdict.h"
#include "analysis/wording.h"
#include "report/findings_text.h"
#include "report/markup.h"
#include "report/next_command.h"
#include "report/proof_text.h"
#include "report/table_parts.h"
#include "report/writers.h"

namespace loaderscope {
namespace {

void add_items(MarkdownPage& page, const std::vector<std::string>& texts) {
  for (const std::string& text : texts) page.item(text);
}

void add_account_table(MarkdownPage& page, const RunRecord& record, const Analysis& analysis) {
  page.raw("| | per step | share of the time | |\n|---|---:|---:|---|\n");
  for (const AccountLine& line : account_lines(record, analysis)) {
    page.raw(table_row({line.label, format_duration(line.per_step),
                        fmt::format("{} ({})", format_percent(line.share),
                                    format_interval(line.interval.value_or(Estimate()))),
                        line.remark}));
  }
  const std::string rate =
      // unknown without samples
      analysis.samples > 0 ? format_rate(analysis.samples_per_s) + "; " : "";
  page.raw("\n");
  page.item(fmt::format("{}{} in {}{}", rate, plural(analysis.steps, "step"),
                        format_duration(analysis.account.window),
                        analysis.steady && is_firm(analysis) ? ", steady" : ""));
}

void add_differential_table(MarkdownPage& page, const RunRecord& record, const Analysis& analysis) {
  std::vector<std::vector<std::string>> rows;
  for (const DifferentialRow& row : differential_rows(record, analysis))
    rows.push_back({row.name, row.busy, row.rate, row.per_step, row.costs, row.remark});
  if (rows.empty()) return;
  page.raw("\n");
  page.table("lrrrrl", {std::begin(kDifferentialHeader), std::end(kDifferentialHeader)}, rows);
}

}  // namespace

void summarize_run(MarkdownPage& page, const AnyResult& result) {
  const RunRecord& record = *result.record;
  const Analysis& analysis = *result.analysis;
  for (const std::string& fault : wrong_data_lines(analysis)) page.headline(fault);
  if (analysis.against) page.headline(analysis.against->sentence);
  page.headline(analysis.verdict.sentence);
  page.paragraph(fix_line(record, analysis));
  if (const std::string code = pytorch_code(analysis); !code.empty())
    page.paragraph("PyTorch: " + code);
  page.paragraph(cause_line(analysis));
  if (analysis.steps > 0) add_account_table(page, record, analysis);
  add_items(page, proof_lines(analysis));
  add_differential_table(page, record, analysis);
  page.item(why_line(analysis.account));
  page.item(starved_line(analysis, record.config));
  page.item(order_line(analysis, record.config));
  page.item(first_batch_line(analysis));
  add_items(page, other_findings(analysis));
  page.item(what_it_takes_line(analysis));
  page.item(fit_line(analysis));
  add_items(page, record.notes);
  add_items(page, analysis.notes);
  page.signature(record.tool_version, "engine " + record.engine);
  const std::string command = next_command(record, analysis);
  if (command.empty()) return;
  page.raw("\n");
  page.command("Next", command);
}

}  // namespace loaderscope
