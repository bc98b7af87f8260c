#include "report/answer/tune_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "analysis/verdict.h"
#include "experiment/settings.h"
#include "report/answer/answer.h"
#include "report/answer/cause_phrases.h"
#include "report/answer/plain_figures.h"
#include "report/answer/setting_rows.h"
#include "report/answer/setting_words.h"
#include "report/kinds.h"

namespace loaderscope {
namespace {

constexpr double kWorthChanging = 1.05;  // relative to the present rate

std::string rate_and_busy(const Tune& tune, const CaseStatistics& judgement, std::size_t i) {
  std::string text = plain_rate(judgement.rate(i).mean) + " samples/s";
  if (judgement.has_busy(i))
    text += fmt::format(", {}{} busy", tuned_device(tune),
                        whole_percent(std::min(1.0, judgement.busy(i).mean)));
  return text;
}

}  // namespace

std::string tuned_device(const Tune& tune) {
  return what_computes(tune.experiment.cases[*tune.recommended].config) == "the GPU" ? "GPU " : "";
}

bool is_present_good_enough(const Tune& tune, const CaseStatistics& judgement) {
  if (!tune.now || !judgement.measured(*tune.now)) return false;
  const std::size_t use = *tune.recommended, now = *tune.now;
  if (use == now) return true;
  const std::vector<Case>& cases = tune.experiment.cases;
  // Fewer workers at the same rate are worth a change. Less memory alone is not.
  const bool has_fewer_workers =
      cases[use].config.loader.num_workers < cases[now].config.loader.num_workers;
  const bool is_cheap = case_price(cases[now].config) <= case_price(cases[use].config);
  return !tune.goal.busy && (is_cheap || !has_fewer_workers) &&
         judgement.rate(use).mean < kWorthChanging * judgement.rate(now).mean;
}

bool is_tune_proven(const Tune& tune) { return tune.proven && !tune.beyond; }

std::string tune_headline(const Tune& tune, const CaseStatistics& judgement) {
  const std::size_t use = *tune.recommended;
  const std::string rate = rate_and_busy(tune, judgement, use);
  const bool has_now = tune.now && judgement.measured(*tune.now);
  if (is_present_good_enough(tune, judgement)) {
    const std::string now = rate_and_busy(tune, judgement, *tune.now);
    const std::string setting = first_difference(tune.experiment, *tune.now, std::nullopt);
    return is_tune_proven(tune) ? fmt::format("Leave it: {}, {}", setting, now)
                                : fmt::format("Best so far: {}, {} (as now)", setting, now);
  }
  const std::string setting =
      first_difference(tune.experiment, use, has_now ? tune.now : std::nullopt);
  const std::string text = is_tune_proven(tune) ? fmt::format("Use {}: {}", setting, rate)
                                                : fmt::format("Best so far: {}, {}", setting, rate);
  if (!has_now) return text;
  std::string rest = plain_rate(judgement.rate(*tune.now).mean);
  const std::string shortest = fmt::format("{} (now {})", text, rest);
  rest += " samples/s";
  if (judgement.has_busy(*tune.now))
    rest += ", " + whole_percent(std::min(1.0, judgement.busy(*tune.now).mean));
  const std::string whole = fmt::format("{} (now {})", text, rest);
  return count_columns(whole) <= static_cast<std::size_t>(kMaxAnswerColumns) ? whole : shortest;
}

std::string call_of_tune(const Tune& tune) {
  const RunConfig& config = tune.experiment.cases[*tune.recommended].config;
  if (!is_for_data_loader(config)) return dali_arguments(config);
  std::string call = data_loader_call(config);
  const auto varies = [&](std::string_view key) {
    return std::any_of(tune.experiment.axes.begin(), tune.experiment.axes.end(),
                       [&](const Axis& axis) { return axis.key == key; });
  };
  const std::size_t workers = call.find("num_workers=");
  if (!varies("batch-size") && workers != call.npos)
    call = "DataLoader(..., " + call.substr(workers);
  constexpr std::pair<std::string_view, std::string_view> kOthers[] = {
      {"drop-last", ", drop_last=True"},
      {"persistent-workers", ", persistent_workers=True"},
      {"in-order", ", in_order=False"}};
  for (const auto& [key, argument] : kOthers)
    if (const std::size_t at = call.find(argument); at != call.npos && !varies(key))
      call.erase(at, argument.size());
  return call;
}

std::string describe_tuned_limit(const Tune& tune) {
  if (tune.limit.empty()) return "";
  const std::string subject = tuned_device(tune).empty() ? "the training itself" : "the GPU";
  std::string text;
  if (tune.limit == "compute") {
    text = fmt::format("with it {} is the limit", subject);
  } else {
    const auto& words = Words<Cause>::table();
    const auto word = std::find_if(words.begin(), words.end(),
                                   [&](const auto& one) { return one.name == tune.limit; });
    if (word == words.end() || word->value == Cause::other) return "";
    text = fmt::format("with it most of the waiting is for {}", cause_noun(word->value));
  }
  if (tune.after_next_step)
    text += fmt::format("; {} would give about {} samples/s", python_words(tune.next_step),
                        plain_rate(tune.after_next_step->samples_per_s));
  return text;
}

std::string describe_best(const Tune& tune, const CaseStatistics& judgement, std::size_t than) {
  if (!tune.best || tune.best == than) return "no setting that ran is faster";
  const double more = judgement.rate(*tune.best).mean / judgement.rate(than).mean - 1;
  if (more < 0.005) return "no setting that ran is faster";
  return fmt::format("the fastest, {}, gives {} more",
                     first_difference(tune.experiment, *tune.best, than), whole_percent(more));
}

std::string next_of_tune(const Tune& tune) {
  if (tune.beyond && !tune.beyond->left_out.empty())
    return fmt::format("{} may give more, but: {}", python_words({tune.beyond->change}),
                       plain_figures(tune.beyond->left_out));
  if (tune.beyond)
    return fmt::format("--vary {}={} ({})", tune.beyond->change.key, tune.beyond->change.value,
                       tune.beyond->predicted
                           ? fmt::format("it may give {} samples/s",
                                         plain_rate(tune.beyond->predicted->samples_per_s))
                           : "no larger value was tried");
  if (tune.goal.busy && !tune.goal_reached)
    return fmt::format("loaderscope run (no setting keeps {} {:g} % busy)",
                       what_computes(tune.experiment.cases[*tune.recommended].config),
                       100 * *tune.goal.busy);
  if (tune.experiment.interrupted) return "run it again: it was interrupted";
  const Nanos spent = std::max<Nanos>(tune.experiment.spent, 60 * kSecond);
  const auto minutes = static_cast<std::int64_t>(std::ceil(2 * seconds(spent) / 60));
  std::string text = fmt::format("--budget {}m", minutes);
  for (std::size_t i = 0; i < tune.candidates.size(); ++i) {
    const TunedCase& one = tune.candidates[i];
    const Case& tried = tune.experiment.cases[i];
    if (!tried.runs.empty() || !tried.skipped.empty() || !one.refused.empty()) continue;
    return text + fmt::format(" (would measure {})",
                              first_difference(tune.experiment, i, tune.recommended));
  }
  return text + " (would repeat what was measured)";
}

}  // namespace loaderscope
