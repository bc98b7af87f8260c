// A summary that reads well as a comment on a pull request.
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

void write_list(std::ostream& out, std::string_view label, const std::vector<std::string>& texts) {
  for (const std::string& text : texts) out << "- " << label << in_markdown(text) << '\n';
}

void write_differential_table(std::ostream& out, const RunRecord& record,
                              const Analysis& analysis) {
  const std::vector<DifferentialRow> rows = differential_rows(record, analysis);
  if (rows.empty()) return;
  out << fmt::format("\n| {} |\n|---|---:|---:|---:|---:|---|\n",
                     fmt::join(kDifferentialHeader, " | "));
  for (const DifferentialRow& row : rows) {
    out << fmt::format("| {} | {} | {} | {} | {} | {} |\n", in_markdown(row.name), row.busy,
                       row.rate, row.per_step, row.costs, in_markdown(row.remark));
  }
  out << '\n';
}

}  // namespace

void write_markdown(std::ostream& out, const RunRecord& record, const Analysis& analysis) {
  for (const std::string& fault : wrong_data_lines(analysis))
    out << "**" << in_markdown(fault) << "**\n\n";
  out << "**" << in_markdown(analysis.verdict.sentence) << "**\n\n";
  const std::string code = pytorch_code(analysis);
  for (const std::string& line :
       {fix_line(record, analysis), code.empty() ? "" : "PyTorch: " + code, cause_line(analysis)}) {
    if (!line.empty()) out << in_markdown(line) << "\n\n";
  }
  if (analysis.steps > 0) {
    out << "| | per step | share of the time | |\n|---|---:|---:|---|\n";
    for (const AccountLine& line : account_lines(record, analysis)) {
      out << fmt::format("| {} | {} | {} ({}) | {} |\n", line.name, format_duration(line.per_step),
                         format_percent(line.share),
                         format_interval(line.interval.value_or(Estimate())),
                         in_markdown(line.remark));
    }
    const std::string rate =
        // unknown without samples
        analysis.samples > 0 ? format_rate(analysis.samples_per_s) + "; " : "";
    out << fmt::format("\n- {}{} in {}{}\n", rate, plural(analysis.steps, "step"),
                       format_duration(analysis.account.window),
                       analysis.steady && is_firm(analysis) ? ", steady" : "");
  }
  write_list(out, "", proof_lines(analysis));
  write_differential_table(out, record, analysis);
  for (const std::string& line :
       {why_line(analysis.account), starved_line(analysis, record.config),
        order_line(analysis, record.config), first_batch_line(analysis)}) {
    if (!line.empty()) out << "- " << in_markdown(line) << '\n';
  }
  write_list(out, "", other_findings(analysis));
  if (const std::string needed = what_it_takes_line(analysis); !needed.empty())
    out << "- " << in_markdown(needed) << '\n';
  if (const std::string fit = fit_line(analysis); !fit.empty())
    out << "- " << in_markdown(fit) << '\n';
  write_list(out, "note: ", record.notes);
  for (const std::string& note : analysis.notes)
    out << "- " << in_markdown(unseen_line(note)) << '\n';
  out << fmt::format("- loaderscope {}, engine {}\n", in_markdown(record.tool_version),
                     in_markdown(record.engine));
  const std::string command = next_command(record, analysis);
  if (!command.empty()) out << "\nNext:\n" << shell_block(command);
}

}  // namespace loaderscope
