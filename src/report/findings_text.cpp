#include "report/findings_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "analysis/epochs.h"
#include "analysis/totals.h"
#include "analysis/wording.h"
#include "record/environment_changes.h"

namespace loaderscope {
namespace {

constexpr double kOrderVisible = 0.001;  // share of the window

bool can_predict(const Analysis& analysis) { return !analysis.fit || analysis.fit->can_predict(); }

// Returns half the width of a prediction's interval, as a share of its rate. This is the largest of
// the worst past error, the error on this run, and the known error of such a prediction. Empty if
// too few predictions were run.
std::optional<double> uncertainty(const Analysis& analysis, const Finding& finding) {
  const std::optional<double> past = analysis.past.bound();
  const std::optional<double> known =
      finding.may_be_off > 0 ? std::optional(finding.may_be_off) : std::nullopt;
  if (!analysis.fit || !past) return known;
  return std::max({*past, std::abs(analysis.fit->rate_error), finding.may_be_off});
}

std::string busy_words(const Finding& finding, std::optional<double> within) {
  if (finding.busy_after <= 0) return "";
  std::string text = fmt::format("{} to {} busy", format_percent(finding.busy_before),
                                 format_percent(finding.busy_after));
  if (within) {
    text += fmt::format(" ({:.1f}-{:.1f})", 100 * finding.busy_after * std::max(0.0, 1 - *within),
                        100 * std::min(1.0, finding.busy_after * (1 + *within)));
  }
  return text + ", ";
}

std::string rate_words(const Finding& finding, std::optional<double> within) {
  std::string text = fmt::format("{} to {} samples/s", format_rate(finding.rate_before),
                                 format_rate(finding.rate_after));
  if (within) {
    text += fmt::format(" ({}-{})", format_rate(finding.rate_after * std::max(0.0, 1 - *within)),
                        format_rate(finding.rate_after * (1 + *within)));
  }
  return text;
}

// Returns the assumption of the model: "decode were 2 times as fast", "transport took no time".
std::string supposition(const Changes& changes) {
  std::string text;
  for (const Change& change : changes) {
    const std::optional<Speedup> speedup = find_speedup(change);
    const std::string same = fmt::format(" were {} times as fast", change.value);
    if (speedup && speedup->factor < kTakesNoTime && text.ends_with(same))
      text.erase(text.size() - same.size());
    if (!text.empty()) text += " and ";
    if (speedup) {
      text += speedup->factor >= kTakesNoTime
                  ? fmt::format("{} took no time", shown_name(name_of(speedup->stage)))
                  : fmt::format("{} were {} times as fast", shown_name(name_of(speedup->stage)),
                                change.value);
    } else if (change.key == kOtherThreads) {
      text += "no other program took a core";
    } else {
      text += fmt::format("{} were {}", change.key, change.value);
    }
  }
  return text;
}

// ", if compute were 0.5 times as fast": the speeds that the model assumes besides the settings.
std::string supposed_change(const Finding& finding) {
  Changes supposed;
  std::copy_if(finding.changes.begin(), finding.changes.end(), std::back_inserter(supposed),
               [&](const Change& change) { return find_speedup(change).has_value(); });
  const bool is_all = supposed.size() == finding.changes.size();
  return supposed.empty() || is_all ? "" : ", if " + supposition(supposed);
}

// Returns the gain of a faster step, until the loader limits it.
std::string ceiling_words(const Finding& finding) {
  constexpr double kAnyRate = 100;  // times the rate: more than a step can be sped up
  if (finding.rate_after >= kAnyRate * finding.rate_before)
    return fmt::format("; the loader can feed more than {:.0f} times as many samples", kAnyRate);
  return fmt::format("; it gives {} samples/s at most, which is what the loader can feed (now {})",
                     format_rate(finding.rate_after), format_rate(finding.rate_before));
}

// Returns "num-workers=8 -> 25.0 % to 50.0 % busy, 160 to 320 samples/s". For a fix that is no
// setting: "store smaller images; if decode were 2 times as fast: 25.0 % to 50.0 % busy".
std::string outcome(const Analysis& analysis, const Finding& finding,
                    std::optional<double> within = std::nullopt) {
  const bool has_figures =
      finding.has_figures() && !finding.changes.empty() && can_predict(analysis);
  if (finding.is_ceiling) return finding.pytorch + (has_figures ? ceiling_words(finding) : "");
  const std::string figures = busy_words(finding, within) + rate_words(finding, within);
  if (finding.has_setting()) {
    const char* arrow = finding.regained_s > 0 ? " -> " : " does about as well: ";
    return changes_to_text(finding.to_run) + supposed_change(finding) +
           (has_figures ? arrow + figures : " (gain unknown; test it with --try)");
  }
  if (!has_figures) return finding.pytorch;
  return fmt::format("{}; if {}: {}", finding.pytorch, supposition(finding.changes), figures);
}

std::string epoch_words(const RunRecord& record, const Analysis& analysis, const Finding& finding) {
  const double before = analysis.epoch_predicted_s.value_or(0);
  const double after = before * finding.rate_before / finding.rate_after;
  if (before <= 0 || !(before < 9e9) || !(after < 9e9)) return "";  // overflow of ns
  return fmt::format(", an epoch {} to {}{}", format_duration(std::llround(1e9 * before)),
                     format_duration(std::llround(1e9 * after)), unseen_of_epoch(record, analysis));
}

std::string waste_words(const Analysis& analysis) {
  const Verdict& verdict = analysis.verdict;
  if (!analysis.waste || verdict.withheld_reason || verdict.severity == "none") return "";
  std::string text = format_rate(analysis.waste->gpu_hours_per_day) + " GPU-hours";
  if (analysis.waste->price_per_day)
    text += " ($" + format_rate(*analysis.waste->price_per_day) + ")";
  return text + " a day are lost now";
}

std::string depth_words(const RequiredPrefetchDepth& depth) {
  if (!depth.enough) {
    return fmt::format(
        "{} of the steps find their batch ready, and no {} that was tried makes it "
        "99.9 %",
        format_percent(depth.ready_now), depth.setting);
  }
  return fmt::format("{}={} makes 99.9 % of the steps ready, with {} of host memory", depth.setting,
                     *depth.enough, format_size(static_cast<double>(depth.memory)));
}

// "decode 4.84 x as fast", "cores=80 num-workers=80"
std::string way_words(const TargetOption& way) {
  if (way.what.ends_with(".speed")) {
    const std::string stage = way.what.substr(0, way.what.rfind('.'));
    return fmt::format("{} {} x as fast", stage, way.changes.front().value);
  }
  return changes_to_text(way.changes);
}

// Returns false for the fix and for wrong data, which are at the top.
bool is_further(const Analysis& analysis, const Finding& finding) {
  return &finding != advised_fix(analysis) && !finding.wrong_data;
}

}  // namespace

std::vector<std::string> wrong_data_lines(const Analysis& analysis) {
  std::vector<std::string> lines;
  for (const Finding& finding : analysis.findings) {
    if (!finding.wrong_data) continue;
    lines.push_back(fmt::format("Wrong data: {}: {}", finding.id, finding.evidence));
    lines.push_back("Fix: " + finding.pytorch);
  }
  return lines;
}

std::string fix_line(const RunRecord& record, const Analysis& analysis) {
  const Finding* fix = advised_fix(analysis);
  const std::string waste = waste_words(analysis);
  if (fix == nullptr) return waste;
  std::string text = "Fix: " + outcome(analysis, *fix, uncertainty(analysis, *fix));
  if (can_predict(analysis) && fix->has_figures()) text += epoch_words(record, analysis, *fix);
  return waste.empty() ? text : text + ". " + waste;
}

std::string cause_line(const Analysis& analysis) {
  const Finding* fix = advised_fix(analysis);
  if (fix == nullptr) return "";
  const std::string past = analysis.past.sentence();
  const auto& all = analysis.findings;
  const auto about =
      std::find_if(all.begin(), all.end(), [&](const Finding& f) { return f.id == fix->cause; });
  const Finding& cause = about == all.end() ? *fix : *about;
  return fmt::format("Why: {} ({}){}", cause.evidence, cause.id, past.empty() ? "" : "; " + past);
}

std::string pytorch_code(const Analysis& analysis) {
  const Finding* fix = advised_fix(analysis);
  return fix == nullptr || !fix->has_setting() ? "" : fix->pytorch;
}

std::vector<const Finding*> further_findings(const Analysis& analysis) {
  std::vector<const Finding*> findings;
  for (const Finding& finding : analysis.findings) {
    if (is_further(analysis, finding)) findings.push_back(&finding);
  }
  return findings;
}

std::vector<std::string> other_findings(const Analysis& analysis) {
  std::vector<std::string> lines;
  for (const Finding* finding : further_findings(analysis)) {
    lines.push_back(fmt::format("also {}: {}; {}", finding->id, finding->evidence,
                                outcome(analysis, *finding)));
  }
  return lines;
}

std::vector<std::string_view> other_finding_names(const Analysis& analysis) {
  std::vector<std::string_view> names;
  for (const Finding* finding : further_findings(analysis)) names.push_back(finding->id);
  return names;
}

std::string fit_line(const Analysis& analysis, bool full) {
  if (!analysis.fit || analysis.findings.empty()) return "";
  std::string text = capitalised(analysis.fit->sentence());
  if (!can_predict(analysis)) text += ", too far off to predict from: run it again, or longer";
  if (!full) return text;
  for (const std::string& note : analysis.fit_notes) text += "; " + note;
  return text;
}

std::string starved_line(const Analysis& analysis, const RunConfig& config) {
  const Account& account = analysis.account;
  if (!analysis.starved || window_share(analysis.starved->sum(), account) < kMinReportedShare)
    return "";
  const auto window_percent = [&](Nanos part) {
    return format_percent(window_share(part, account));
  };
  const StallSplit& starved = *analysis.starved;
  std::string text = fmt::format(
      "Starved for {} of the time by a lack of capacity, and for {} by variation of the costs",
      window_percent(starved.from_capacity), window_percent(starved.from_variation));
  const bool spread_matters = window_share(starved.from_variation, account) >= kMinReportedShare;
  if (!analysis.depth || !spread_matters || config.loader.num_workers == 0) return text;
  return text + "; " + depth_words(*analysis.depth);
}

std::string what_it_takes_line(const Analysis& analysis, bool full) {
  if (!analysis.what_it_takes || analysis.verdict.severity == "none") return "";
  std::vector<std::string> enough, never;
  for (const TargetOption& way : analysis.what_it_takes->ways) {
    if (way.changes.empty()) {
      never.push_back(way.what);
    } else {
      enough.push_back(way_words(way));
    }
  }
  if (enough.empty() && !full) return "";
  std::string text =
      fmt::format("it takes, for {:.0f} % busy: ", 100 * analysis.what_it_takes->busy);
  text += enough.empty() ? "more than one thing" : fmt::format("{}", fmt::join(enough, "; or "));
  if (full && !never.empty())
    text += fmt::format("; alone never enough: {}", fmt::join(never, ", "));
  return text;
}

std::string order_line(const Analysis& analysis, const RunConfig& config) {
  const double share = window_share(analysis.account.order, analysis.account);
  if (share <= kOrderVisible) return "";
  const std::string text =
      fmt::format("For {} of the time a later batch was ready while a late one was awaited",
                  format_percent(share));
  if (!config.loader.in_order) return text;
  const auto& findings = analysis.findings;
  const auto found = std::find_if(findings.begin(), findings.end(),
                                  [](const Finding& f) { return f.id == "order-stall"; });
  if (found != findings.end() && found->has_figures() && can_predict(analysis)) {
    const double window = seconds(analysis.account.window);
    return text + fmt::format("; --no-in-order gives {} back, as predicted",
                              format_percent(found->regained_s / window));
  }
  if (analysis.fit && can_predict(analysis) && share >= kMinReportedShare)
    return text + "; --no-in-order would give back less than 1 %";
  return text + "; --no-in-order gives up to that back";
}

}  // namespace loaderscope
