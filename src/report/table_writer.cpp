// The report for people: the answer first, then the evidence, its basis, and the next command.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>

#include "analysis/findings/waited_cause.h"
#include "analysis/totals.h"
#include "analysis/verdict.h"
#include "analysis/wording.h"
#include "record/family_traits.h"
#include "report/draw_steps.h"
#include "report/findings_text.h"
#include "report/next_command.h"
#include "report/proof_text.h"
#include "report/step_buckets.h"
#include "report/table_parts.h"
#include "report/text_plot.h"
#include "report/text_report.h"
#include "report/text_table.h"
#include "report/writers.h"

namespace loaderscope {
namespace {

LineTone verdict_tone(const Verdict& verdict) {
  if (verdict.withheld_reason) return LineTone::plain;
  if (verdict.severity == "none") return LineTone::good;
  if (verdict.severity == "moderate") return LineTone::warning;
  if (verdict.severity == "high") return LineTone::bad;
  return LineTone::plain;
}

void add_differential(TextReportBuilder& screen, const RunRecord& record,
                      const Analysis& analysis) {
  TextTable table("lrrrrl", {std::begin(kDifferentialHeader), std::end(kDifferentialHeader)});
  for (const DifferentialRow& row : differential_rows(record, analysis)) {
    table.add({row.name, row.busy, row.rate, row.per_step, row.costs, row.remark});
  }
  if (!table.empty()) screen.table(LinePriority::advice, table);
}

// Returns the picture of the worst stall for a finding; "" on a terminal.
std::string fix_place(const Finding* finding, const RunRecord& record, const Analysis& analysis,
                      const ReportStyle& style) {
  if (!style.drawn || finding == nullptr) return "";
  const std::optional<Cause> cause =
      waited_causes(record, analysis)[static_cast<std::size_t>(finding - analysis.findings.data())];
  return cause ? place_of_stall(*cause) : "";
}

void add_advice(TextReportBuilder& screen, const RunRecord& record, const Analysis& analysis,
                const ReportStyle& style) {
  screen.line(LinePriority::advice, fix_line(record, analysis));
  screen.code(LinePriority::advice, "PyTorch", pytorch_code(analysis));
  screen.line(LinePriority::evidence, cause_line(analysis),
              fix_place(advised_fix(analysis), record, analysis, style));
}

void add_further(TextReportBuilder& screen, const RunRecord& record, const Analysis& analysis,
                 const ReportStyle& style) {
  const std::vector<const Finding*> findings = further_findings(analysis);
  const std::vector<std::string> lines = other_findings(analysis);
  for (std::size_t i = 0; i < lines.size(); ++i)
    screen.line(LinePriority::detail, lines[i], fix_place(findings[i], record, analysis, style));
}

void add_stages(TextReportBuilder& screen, const RunRecord& record, const ReportStyle& style) {
  const StageRows stages = stage_table(record, !style.verbose);
  std::vector<LinePriority> worths;
  for (const bool is_long : stages.is_long)
    worths.push_back(is_long ? LinePriority::evidence : LinePriority::detail);
  if (!worths.empty()) screen.table(LinePriority::evidence, stages.table, worths);
}

// Adds a plot that shows what the mean hides: bursts, drift, ends of epochs.
void add_step_plot(TextReportBuilder& screen, const RunRecord& record, const ReportStyle& style) {
  if (record.ranks.front().steps() < 2) return;
  const StepBuckets steps = step_stretches(record.ranks.front(), std::int64_t{2} * style.width);
  TextPlot plot;
  plot.title = fmt::format(
      "time of a step{}{}", record.ranks.size() > 1 ? " of rank 0" : "",
      steps.each > 1 ? fmt::format(": the mean and the longest of every {} steps", steps.each)
                     : "");
  if (steps.is_cut())
    plot.title += fmt::format("; the longest took {}", format_duration(steps.longest));
  plot.most = steps.top();
  plot.most_text = format_duration(std::llround(1e9 * steps.top()));
  plot.first = fmt::format("step {}", steps.list.front().first);
  plot.last = std::to_string(steps.list.back().last);
  for (const StepStretch& stretch : steps.list)
    plot.strokes.push_back({stretch.middle(), stretch.mean(stretch.sum), seconds(stretch.longest)});
  for (std::string& line : plot_lines(plot, style.width))
    screen.raw(LinePriority::detail, std::move(line));
}

void add_hosts(TextReportBuilder& screen, const RunRecord& record, const Analysis& analysis) {
  const std::vector<HostRate> hosts = host_rates(record, analysis);
  if (hosts.empty()) return;
  screen.line(LinePriority::evidence, hosts_line(hosts));
  const HostRows rows = host_table(hosts, analysis);
  std::vector<LinePriority> worths;
  for (const bool is_chief : rows.is_chief)
    worths.push_back(is_chief ? LinePriority::evidence : LinePriority::basis);
  screen.table(LinePriority::evidence, rows.table, worths);
  screen.line(LinePriority::detail, clocks_line(record.hosts));
}

void add_measured(TextReportBuilder& screen, const RunRecord& record, const Analysis& analysis,
                  const ReportStyle& style) {
  screen.line(LinePriority::evidence, rate_line(record, analysis));
  screen.line(LinePriority::evidence, window_line(record, analysis));
  add_hosts(screen, record, analysis);
  screen.line(LinePriority::evidence, ranks_line(record, analysis));
  if (style.verbose && analysis.rank_accounts.size() > 1) {
    screen.table(LinePriority::detail, rank_table(record, analysis));
    const std::string more = more_ranks_line(analysis);
    if (!more.empty()) screen.raw(LinePriority::detail, "  " + more);
  }
  if (record.loaders.size() > 1) screen.table(LinePriority::evidence, loader_table(record));
  screen.table(LinePriority::evidence, account_table(record, analysis, style));
  if (const TextTable gaps = gap_table(record); !gaps.empty())
    screen.table(LinePriority::evidence, gaps);
  if (style.verbose && style.plots) add_step_plot(screen, record, style);
  for (const std::string& proof : proof_lines(analysis)) screen.line(LinePriority::advice, proof);
  add_differential(screen, record, analysis);
  screen.line(LinePriority::evidence, why_line(analysis.account));
  screen.line(LinePriority::evidence, probed_line(record));
  if (style.verbose) {
    screen.line(LinePriority::detail, starved_line(analysis, record.config));
    screen.line(LinePriority::detail, order_line(analysis, record.config));
  }
  // Skips traces, whose facts about stages are all in the account.
  if (!is_trace_engine(record.engine)) add_stages(screen, record, style);
  screen.line(LinePriority::evidence, device_work_line(record, analysis));
  screen.line(LinePriority::evidence, decoding_line(record));
  if (style.verbose) screen.line(LinePriority::detail, ceiling_line(record, analysis));
}

// Adds details that a screen can omit.
void add_details(TextReportBuilder& screen, const RunRecord& record, const Analysis& analysis) {
  screen.line(LinePriority::detail, first_batch_line(analysis));
  for (const std::string& queue : queue_lines(record)) screen.line(LinePriority::detail, queue);
  screen.table(LinePriority::detail, metric_table(record));
}

void add_skipped(TextReportBuilder& screen, const RunRecord& record, const ReportStyle& style) {
  if (record.skipped.samples == 0) return;
  std::string kinds;
  for (const auto& [kind, count] : record.skipped.kind_counts) {
    kinds += fmt::format("{}{} {}", kinds.empty() ? "" : ", ", count, kind);
  }
  const bool one = record.skipped.samples == 1;
  screen.line(LinePriority::evidence,
              fmt::format("skipped {}: {}; {}", plural(record.skipped.samples, "sample"), kinds,
                          one ? "the next good one took its place"
                              : "the next good ones took their places"));
  for (const std::string& sample : record.skipped.first)
    screen.raw(LinePriority::beside, "  " + wrapped(printable(sample), style.width - 2, 2));
}

// Adds the basis of the answer, and its limits.
void add_notes(TextReportBuilder& screen, const RunRecord& record, const Analysis& analysis,
               const ReportStyle& style) {
  if (!record.contention_known && !is_trace_engine(record.engine)) {
    screen.line(LinePriority::evidence,
                "contention is not known here: no run-queue delay in /proc/self/schedstat");
  }
  add_skipped(screen, record, style);
  if (analysis.has_busy && is_gpu_unseen(record))
    screen.note(LinePriority::needed,
                "the program uses a GPU whose own times are not known, so compute is what the "
                "host saw, and --require does not judge it");
  constexpr std::size_t kChief = 3;
  std::size_t count = 0;
  for (const std::string& note : record.notes)
    screen.note(count++ < kChief ? LinePriority::basis : LinePriority::beside, note);
  for (const std::string& note : analysis.notes) screen.note(LinePriority::basis, note);
}

void add_next(TextReportBuilder& screen, const RunRecord& record, const Analysis& analysis) {
  const AnswerConfig& answer = record.config.answer;
  std::string files;
  for (const std::string& path : {answer.json.value, answer.html.value, answer.perfetto.value})
    if (!path.empty() && path != "-") files += " " + printable(path);
  if (!files.empty()) screen.raw(LinePriority::needed, "saved" + files);
  const std::string command = next_command(record, analysis);
  if (!command.empty()) screen.command(LinePriority::needed, "Next", command);
}

// Returns "explain decode-bound", for the first finding, else for the named cause.
std::string explained_by(const Analysis& analysis) {
  std::string_view word;
  if (!analysis.findings.empty()) {
    word = analysis.findings.front().id;
  } else if (analysis.verdict.candidates.size() == 1) {
    word = name_of(analysis.verdict.candidates.front());
  }
  return word.empty() ? "" : fmt::format("explain {}", word);
}

// "more with -vv: findings decode-bound, small-files and 1 more; first batch; 24 metrics;
// explain decode-bound"
std::string more_line(const RunRecord& record, const Analysis& analysis) {
  constexpr std::size_t kNamed = 2;
  const std::vector<std::string_view> findings = other_finding_names(analysis);
  std::vector<std::string> parts;
  if (!findings.empty()) {
    const auto named = std::span(findings).first(std::min(findings.size(), kNamed));
    std::string text =
        fmt::format("finding{} {}", findings.size() > 1 ? "s" : "", fmt::join(named, ", "));
    if (findings.size() > kNamed) text += fmt::format(" and {} more", findings.size() - kNamed);
    parts.push_back(std::move(text));
  }
  if (record.ranks.size() > 1) parts.emplace_back("ranks");
  if (analysis.first_batch_wall > 0) parts.emplace_back("first batch");
  if (!record.metrics.empty()) parts.push_back(plural(std::ssize(record.metrics), "metric"));
  if (std::string word = explained_by(analysis); !word.empty()) parts.push_back(std::move(word));
  return fmt::format("more with -vv: {}", fmt::join(parts, "; "));
}

// A page has it on itself.
std::string explained_line(const Analysis& analysis) {
  const std::string word = explained_by(analysis);
  return word.empty()
             ? ""
             : fmt::format("how a word is measured, and when it is wrong: loaderscope {}", word);
}

void add_against(TextReportBuilder& screen, const AgainstRun& against) {
  const LineTone tone = against.verdict == "worse" ? LineTone::bad : LineTone::plain;
  screen.wrapped_headline(
      fmt::format("{} (earlier: {})", against.sentence, shown_text(against.earlier)), tone);
  if (!against.settings.empty())
    screen.line(LinePriority::needed,
                fmt::format("settings that differ: {}", fmt::join(against.settings, ", ")));
  for (const std::string& warning : against.warnings)
    screen.line(LinePriority::basis, "the runs are not alike: " + warning);
}

}  // namespace

void write_run_text(TextReport& reading, const RunRecord& record, const Analysis& analysis,
                    const ReportStyle& style) {
  TextReportBuilder &screen = reading.body, &last = reading.last;
  for (const std::string& fault : wrong_data_lines(analysis))
    screen.wrapped_headline(fault, LineTone::bad);
  if (analysis.against) add_against(screen, *analysis.against);
  screen.headline(analysis.verdict.sentence, verdict_tone(analysis.verdict));
  const bool has_more = style.verbose || analysis.proof;
  if (analysis.is_too_short() && !has_more) return add_next(last, record, analysis);
  add_advice(screen, record, analysis, style);
  if (analysis.steps > 0) add_measured(screen, record, analysis, style);
  if (style.verbose) add_further(screen, record, analysis, style);
  screen.line(LinePriority::basis, what_it_takes_line(analysis, style.verbose));
  const bool is_held = analysis.fit && analysis.fit->can_predict();
  screen.line(is_held ? LinePriority::detail : LinePriority::basis,
              fit_line(analysis, style.verbose));
  if (style.verbose) add_details(screen, record, analysis);
  add_notes(screen, record, analysis, style);
  if (!style.verbose && analysis.steps > 0)
    last.line(LinePriority::needed, more_line(record, analysis));
  if (style.verbose && !style.drawn) last.line(LinePriority::needed, explained_line(analysis));
  add_next(last, record, analysis);
}

}  // namespace loaderscope
