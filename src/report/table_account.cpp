// The account for people: what the GPU's time went to.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "analysis/contention.h"
#include "analysis/totals.h"
#include "analysis/verdict.h"
#include "analysis/wording.h"
#include "loaderscope/run_config.h"
#include "report/table_parts.h"
#include "report/text_table.h"

namespace loaderscope {
namespace {

constexpr int kShortestBar = 8, kMaxBar = 40;
constexpr std::size_t kMaxCauses = 6;  // in short, compute counted
constexpr double kSmall = 0.005;       // share of the window; in short, smaller parts have no row
constexpr double kInvisible = 0.001;
constexpr double kAllOnDevice = 0.995;  // share of a cause

// Returns "RandomCrop 62.0 %": the largest part of the stage, by its name in the program.
std::string code_words(const RunRecord& record, std::string_view stage) {
  const Detail* most = nullptr;
  for (const Detail& detail : record.details)
    if (detail.about == stage && (most == nullptr || detail.share > most->share)) most = &detail;
  if (most == nullptr) return "";
  return most->share > 0 ? most->text + " " + format_percent(most->share) : most->text;
}

std::string remark_on(Cause cause, const RunRecord& record, const Account& account) {
  if (cause == Cause::launch && waits_for_sampler(record, account))
    return code_words(record, "sampler");
  if (cause == Cause::launch && account.not_asking > 0) {
    return fmt::format("{} of it {} a batch that is ready",
                       format_duration(step_mean(record, account.not_asking)),
                       waits_for_notifications(record, account)
                           ? "for " + describe_cause(cause, record, account) + ", before it takes"
                           : "not asking for");
  }
  if (cause == Cause::contention) {
    const std::string others = describe_others(record);
    return others.empty() ? "runnable, and no core free" : others;
  }
  if (cause == Cause::other) return "no known cause";
  if (const double share = device_share(cause, account); share >= kAllOnDevice)
    return "on the GPU";
  else if (share >= kSmall)
    return format_percent(share) + " of it on the GPU";
  return code_words(record, name_of(cause));
}

std::string first_column(const RunRecord& record, const Analysis& analysis) {
  if (!analysis.has_busy) return "trainer waits for";
  return device_kind(record.config.trainer.device.value) == DeviceKind::program ? "training"
                                                                                : "GPU time";
}

// The gain without the cause, if the first line names it and speaks of gains.
std::string gain_words(Cause cause, const Analysis& analysis) {
  const Verdict& verdict = analysis.verdict;
  const auto& named = verdict.candidates;
  if (!speaks_of_gains(analysis, verdict) || cause == Cause::other ||
      std::find(named.begin(), named.end(), cause) == named.end())
    return "";
  return fmt::format("without it {} is gained", format_percent(analysis.removals.saves(cause)));
}

std::string joined(const std::string& first, const std::string& second) {
  return first.empty() || second.empty() ? first + second : first + "; " + second;
}

// The rows that matter, and one for all others together where that is not nothing.
std::vector<AccountLine> shorten(const std::vector<AccountLine>& lines) {
  std::vector<AccountLine> kept;
  AccountLine others;
  std::size_t count = 0;
  for (const AccountLine& line : lines) {
    if (kept.empty() || (line.share >= kSmall && kept.size() < kMaxCauses)) {
      kept.push_back(line);
      continue;
    }
    others.per_step += line.per_step;
    others.share += line.share;
    others.remark += (others.remark.empty() ? "" : ", ") + line.label;
    ++count;
  }
  if (others.share < kInvisible) return kept;
  others.label = fmt::format("{} more", count);
  kept.push_back(std::move(others));
  return kept;
}

TextTable lines_table(const std::vector<AccountLine>& lines, const std::string& first, int bar) {
  TextTable table("lrrrll", {first, "per step", "share", "95 %", "", ""});
  for (const AccountLine& line : lines) {
    const double length = std::clamp(std::round(line.share * bar), 0.0, double{1} * bar);
    table.add({line.label, format_duration(line.per_step), format_percent(line.share),
               line.interval ? format_interval(*line.interval) : "",
               std::string(static_cast<std::size_t>(length), '#'), line.remark});
  }
  return table;
}

}  // namespace

std::vector<AccountLine> account_lines(const RunRecord& record, const Analysis& analysis) {
  const Account& account = analysis.account;
  std::vector<AccountLine> lines;
  for (const auto& word : Words<Cause>::table()) {
    const Nanos ns = account.stall[word.value];
    if (ns == 0) continue;
    lines.push_back(
        {std::string(word.name), std::string(shown_name(word.name, record.config)),
         step_mean(record, ns), window_share(ns, account), analysis.share[word.value],
         joined(gain_words(word.value, analysis), remark_on(word.value, record, account))});
  }
  std::stable_sort(lines.begin(), lines.end(), [](const AccountLine& a, const AccountLine& b) {
    const bool a_other = a.name == "other", b_other = b.name == "other";
    return a_other != b_other ? b_other : a.share > b.share;
  });
  if (analysis.has_busy) {
    lines.insert(lines.begin(), {"compute", "compute", step_mean(record, account.compute),
                                 busy_share(account), analysis.busy, ""});
  }
  return lines;
}

TextTable account_table(const RunRecord& record, const Analysis& analysis,
                        const ReportStyle& style) {
  std::vector<AccountLine> lines = account_lines(record, analysis);
  if (!style.verbose) lines = shorten(lines);
  const std::string first = first_column(record, analysis);
  if (style.drawn) return lines_table(lines, first, 0);
  const int bar = std::clamp(style.width - 64, 10, kMaxBar);
  const int beyond = static_cast<int>(lines_table(lines, first, bar).columns()) - style.width;
  const int fitting = std::max(kShortestBar, bar - std::max(0, beyond));
  return lines_table(lines, first, fitting);
}

}  // namespace loaderscope
