// The default answer of sweep: the cheapest setting that is about as fast as the fastest.
#include <fmt/format.h>

#include <algorithm>

#include "analysis/verdict.h"
#include "report/answer/answers.h"
#include "report/answer/plain_figures.h"
#include "report/answer/setting_rows.h"
#include "report/answer/setting_words.h"
#include "report/sweep_formats.h"

namespace loaderscope {
namespace {

std::size_t cases_not_run(const Experiment& experiment) {
  return static_cast<std::size_t>(
      std::count_if(experiment.cases.begin(), experiment.cases.end(),
                    [](const Case& one) { return one.skipped.empty() && one.runs.empty(); }));
}

// "Fewest within 3 % of the best: num_workers=4, 631 samples/s"
std::string sweep_headline(const Experiment& sweep, const SweepAnswer& found) {
  const std::size_t best = *found.best, knee = found.knee.value_or(best);
  const double rate = found.rate[knee]->mean;
  std::string text = fmt::format("{}, {} samples/s", first_difference(sweep, knee, std::nullopt),
                                 plain_rate(rate));
  if (found.busy[knee])
    text += fmt::format(", {} busy", whole_percent(std::min(1.0, found.busy[knee]->mean)));
  if (!found.knee || knee == best) return "Fastest: " + text;
  const std::vector<const Axis*> axes = axes_by_importance(sweep);
  const bool has_workers = !axes.empty() && axes.front()->key == "num-workers";
  const bool is_within = rate >= 0.97 * found.rate[best]->mean;
  return fmt::format("{} {}: {}", has_workers ? "Fewest" : "Cheapest",
                     is_within ? "within 3 % of the best" : "that may be within 3 % of the best",
                     text);
}

std::vector<SettingRow> rows_of_sweep(const Experiment& sweep, const SweepAnswer& found) {
  const std::size_t most = axes_by_importance(sweep).size() > 1 ? 4 : 5;
  const std::size_t best = *found.best, chosen = found.knee.value_or(best);
  std::vector<std::size_t> order = cases_around(sweep, chosen, 2);
  if (std::find(order.begin(), order.end(), best) == order.end()) order.push_back(best);
  std::erase_if(order, [&](std::size_t i) { return !found.rate[i]; });
  std::vector<std::size_t> kept = order;
  std::stable_sort(kept.begin(), kept.end(), [&](std::size_t a, std::size_t b) {
    const auto rank = [&](std::size_t i) { return i == chosen ? 0 : i == best ? 1 : 2; };
    if (rank(a) != rank(b)) return rank(a) < rank(b);
    return found.rate[a]->mean > found.rate[b]->mean;
  });
  if (kept.size() > most) kept.resize(most);
  std::vector<SettingRow> rows;
  for (const std::size_t i : order) {
    if (std::find(kept.begin(), kept.end(), i) == kept.end()) continue;
    SettingRow row{i, found.rate[i]->mean};
    if (found.busy[i]) row.busy = found.busy[i]->mean;
    row.is_marked = i == chosen;
    if (i == best) row.remark = "fastest";
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace

Answer answer_sweep(const Experiment& sweep) {
  Answer answer;
  const SweepAnswer found = judge_sweep(sweep);
  if (!found.best) {
    const std::string reason = reason_for_nothing(sweep);
    answer.headline = "No case could be run" + (reason.empty() ? "" : ": " + plain_figures(reason));
    answer.tone = LineTone::bad;
    answer.last.push_back({"More", "-v"});
    return answer;
  }
  const std::string formats = format_answer(sweep, found);
  answer.headline = formats.empty() ? sweep_headline(sweep, found) : plain_figures(formats);
  const Case& chosen = sweep.cases[found.knee.value_or(*found.best)];
  answer.table = settings_table(sweep, rows_of_sweep(sweep, found),
                                what_computes(chosen.config) == "the GPU" ? "GPU busy" : "busy");
  for (const Case& one : sweep.cases) {
    if (one.skipped.empty()) continue;
    answer.last.push_back({"Also", fmt::format("skipped {}: {}", python_words(one.changes),
                                               plain_figures(one.skipped))});
    break;
  }
  if (const std::size_t count = cases_not_run(sweep); count > 0)
    answer.last.push_back(
        {"Next", fmt::format("--resume, or a longer --budget ({} of {} settings have not run)",
                             count, sweep.cases.size())});
  answer.last.push_back({"More", "-v (all settings, a map), --html page.html"});
  name_simulated_gpu(answer, chosen.config);
  return answer;
}

}  // namespace loaderscope
