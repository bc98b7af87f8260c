// The report for people: the answer first, then the evidence, then what it rests on, then the next
// command.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "analysis/totals.h"
#include "analysis/verdict.h"
#include "analysis/wording.h"
#include "loaderscope/device.h"
#include "loaderscope/engine_table.h"
#include "report/findings_text.h"
#include "report/next_command.h"
#include "report/proof_text.h"
#include "report/table_parts.h"
#include "report/text_table.h"
#include "report/writers.h"

namespace loaderscope {
namespace {

const std::string kInset = "  ";       // of a line that belongs to the one above
constexpr double kStraggling = 0.001;  // of the window; below it no rank waits for another
constexpr double kAlike = 0.25;        // ranks whose waits differ by less are not told apart

std::string_view colour_of(const Verdict& verdict) {
  if (verdict.withheld_reason) return "\x1b[1m";
  if (verdict.severity == "none") return "\x1b[1;32m";
  if (verdict.severity == "moderate") return "\x1b[1;33m";
  if (verdict.severity == "high") return "\x1b[1;31m";
  return "\x1b[1m";
}

std::string painted(const std::string& text, std::string_view colour, const ReportStyle& style) {
  return style.colour ? std::string(colour) + text + "\x1b[0m" : text;
}

// "125 samples/s (±1); step 512.0 ms, p99 520.3 ms; reads 13.8 MB/s"
std::string rate_line(const RunRecord& record, const Analysis& analysis) {
  std::vector<std::string> parts;
  if (analysis.has_busy) parts.push_back(show_rate(analysis.samples_per_s));
  const Histogram& times = analysis.step_time;
  if (times.count() > 0) {
    parts.push_back(fmt::format("step {}, p99 {}", show_duration(sum_of(times) / times.count()),
                                show_duration(times.quantile(0.99))));
  }
  const double read = per_second(record, &RankRecord::read_bytes);
  const double delivered = per_second(record, &RankRecord::delivered_bytes);
  if (read > 0) parts.push_back("reads " + show_byte_rate(read));
  if (delivered > 0) parts.push_back("delivers " + show_byte_rate(delivered));
  return fmt::format("{}", fmt::join(parts, "; "));
}

std::string epoch_words(const RunRecord& record, const Analysis& analysis) {
  if (!analysis.epoch_predicted_s || *analysis.epoch_predicted_s > 9e9) return "";
  return fmt::format("an epoch of {} takes {}", plural(record.config.samples, "sample"),
                     show_duration(std::llround(*analysis.epoch_predicted_s * 1e9)));
}

// "100 steps after 5 of warm-up, steady; 51.20 s of virtual time"
std::string window_line(const RunRecord& record, const Analysis& analysis) {
  std::int64_t warmup = 0;
  for (const RankRecord& rank : record.ranks) warmup = std::max(warmup, rank.warmup_steps);
  std::string text = plural(analysis.steps, "step");
  if (record.ranks.size() > 1) text += " per rank";
  if (warmup > 0) text += fmt::format(" after {} of warm-up", show_count(warmup));
  if (analysis.steps >= kFewestSteps) text += analysis.steady ? ", steady" : ", not steady";
  text += "; " + show_duration(analysis.account.window);
  text += is_model_engine(record.engine) ? " of virtual time" : "";
  const std::string epoch = epoch_words(record, analysis);
  return epoch.empty() ? text : text + "; " + epoch;
}

template <class Value>
std::pair<double, double> range_of(const std::vector<Account>& accounts, const Value& value) {
  std::pair<double, double> range = {value(accounts.front()), value(accounts.front())};
  for (const Account& account : accounts) {
    range.first = std::min(range.first, value(account));
    range.second = std::max(range.second, value(account));
  }
  return range;
}

// The rank that the others wait for is the one that waits least.
std::string straggler_words(const Analysis& analysis) {
  const std::vector<Account>& ranks = analysis.rank_accounts;
  const auto waits = [](const Account& a) { return share_of(a.waiting_for_ranks, a); };
  const auto [least, most] = range_of(ranks, waits);
  if (most <= kStraggling) return ", no straggler";
  if (least > most * kAlike)
    return fmt::format("; ranks wait for each other {} of the time", show_percent(most));
  const auto slowest =
      std::min_element(ranks.begin(), ranks.end(),
                       [&](const Account& a, const Account& b) { return waits(a) < waits(b); });
  return fmt::format("; rank {} is the straggler, others wait up to {} of the time for it",
                     slowest - ranks.begin(), show_percent(most));
}

std::string ranks_line(const RunRecord& record, const Analysis& analysis) {
  if (record.ranks.size() < 2 || analysis.steps == 0) return "";
  std::string text = plural(static_cast<std::int64_t>(record.ranks.size()), "rank");
  if (analysis.has_busy) {
    const auto [low, high] = range_of(analysis.rank_accounts, busy_of);
    const std::string least = show_percent(low), most = show_percent(high);
    text += least == most ? ": busy " + most : fmt::format(": busy {:.1f}-{}", 100 * low, most);
  } else {
    double low = rate_of(record.ranks.front(), &RankRecord::samples), high = low;
    for (const RankRecord& rank : record.ranks) {
      low = std::min(low, rate_of(rank, &RankRecord::samples));
      high = std::max(high, rate_of(rank, &RankRecord::samples));
    }
    const std::string least = show_rate(low), most = show_rate(high);
    text += fmt::format(": {} samples/s each", least == most ? most : least + "-" + most);
  }
  return text + straggler_words(analysis);
}

std::string first_column(const RunRecord& record, const Analysis& analysis) {
  if (!analysis.has_busy) return "trainer waits for";
  return device_kind(record.config.device.value) == DeviceKind::program ? "training" : "GPU time";
}

void write_account(std::ostream& out, const RunRecord& record, const Analysis& analysis,
                   const ReportStyle& style) {
  const int bar_columns = std::clamp(style.width - 64, 10, 40);
  TextTable table("lrrrll", {first_column(record, analysis), "per step", "share", "95 %", "", ""});
  for (const AccountLine& line : account_lines(record, analysis)) {
    const double length = std::round(line.share * bar_columns);
    const auto marks = static_cast<std::size_t>(std::clamp(length, 0.0, double{1} * bar_columns));
    table.add({line.name, show_duration(line.per_step), show_percent(line.share),
               show_points(line.half_width), std::string(marks, '#'), line.remark});
  }
  table.print(out);
}

void show_differential(std::ostream& out, const RunRecord& record, const Analysis& analysis) {
  TextTable table("lrrrrl", {std::begin(kDifferentialHeader), std::end(kDifferentialHeader)});
  for (const DifferentialRow& row : differential_rows(record, analysis)) {
    table.add({row.name, row.busy, row.rate, row.per_step, row.costs, row.remark});
  }
  if (!table.empty()) table.print(out);
}

// What the answer rests on, and what it cannot show.
void write_notes(std::ostream& out, const RunRecord& record, const Analysis& analysis,
                 const ReportStyle& style) {
  std::vector<std::string> lines;
  if (!record.contention_known) {
    lines.push_back("contention is not known here: no run-queue delay in /proc/self/schedstat");
  }
  if (record.skipped.samples > 0) {
    std::string kinds;
    for (const auto& [kind, count] : record.skipped.by_kind) {
      kinds += fmt::format("{}{} {}", kinds.empty() ? "" : ", ", count, kind);
    }
    lines.push_back(fmt::format("skipped {} samples: {}; others took their places",
                                record.skipped.samples, kinds));
    for (const std::string& sample : record.skipped.first) lines.push_back(kInset + sample);
  }
  for (const std::string& note : record.notes) lines.push_back("note: " + note);
  for (const std::string& note : analysis.notes) lines.push_back(unseen_line(note));
  for (const std::string& line : lines) {
    if (line.empty()) continue;
    const bool inset = line.starts_with(kInset);
    out << (inset ? kInset + wrapped(printable(line.substr(kInset.size())), style.width - 2, 2)
                  : wrapped(printable(line), style.width, 2))
        << '\n';
  }
}

void write_next(std::ostream& out, const RunRecord& record, const Analysis& analysis) {
  const std::string& json = record.config.json;
  if (!json.empty() && json != "-") out << "files: " << printable(json) << '\n';
  const std::string command = next_command(record, analysis);
  if (!command.empty()) out << "next: " << printable(command) << '\n';
}

}  // namespace

void write_table_report(std::ostream& out, const RunRecord& record, const Analysis& analysis,
                        const ReportStyle& style) {
  const auto line = [&](const std::string& text) {
    if (!text.empty()) out << wrapped(printable(text), style.width, 2) << '\n';
  };
  out << painted(printable(analysis.verdict.sentence), colour_of(analysis.verdict), style) << '\n';
  for (const std::string& fault : wrong_data_lines(analysis)) line(fault);
  line(fix_line(record, analysis));
  line(pytorch_line(analysis));
  line(cause_line(analysis));
  if (analysis.steps > 0) {
    line(rate_line(record, analysis));
    line(window_line(record, analysis));
    line(ranks_line(record, analysis));
    write_rank_table(out, record, analysis);
    write_account(out, record, analysis, style);
    for (const std::string& proof : proof_lines(analysis)) line(proof);
    show_differential(out, record, analysis);
    line(why_line(analysis.account));
    line(starved_line(analysis, record.config));
    line(order_line(analysis, record.config));
    write_stage_table(out, record);
    line(ceiling_line(record, analysis));
  }
  for (const std::string& finding : other_findings(analysis)) line(finding);
  line(what_it_takes_line(analysis));
  line(fit_line(analysis));
  line(first_batch_line(analysis));
  for (const std::string& queue : queue_lines(record)) line(queue);
  write_metrics(out, record, style.width);
  write_notes(out, record, analysis, style);
  write_next(out, record, analysis);
}

}  // namespace loaderscope
