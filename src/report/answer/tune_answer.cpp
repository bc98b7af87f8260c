// The default answer of tune: the setting to use, compared with the present one.
#include <fmt/format.h>

#include <algorithm>

#include "experiment/case_statistics.h"
#include "report/answer/answers.h"
#include "report/answer/plain_figures.h"
#include "report/answer/setting_rows.h"
#include "report/answer/tune_words.h"

namespace loaderscope {
namespace {

std::string remark_of_goal(const Tune& tune) {
  const bool has_workers = !axes_by_importance(tune.experiment).empty() &&
                           axes_by_importance(tune.experiment).front()->key == "num-workers";
  const std::string begin = has_workers ? "fewest" : "cheapest";
  if (tune.goal.busy)
    return tune.goal_reached
               ? fmt::format("{} that keep it {:g} % busy", begin, 100 * *tune.goal.busy)
               : "";
  return fmt::format("{} within {:g} % of the best", begin, 100 * tune.goal.within);
}

// The present one, the recommended one and their neighbours, by their values.
std::vector<SettingRow> rows_of_tune(const Tune& tune, const CaseStatistics& judgement) {
  const bool is_good = is_present_good_enough(tune, judgement);
  const std::size_t use = is_good ? *tune.now : *tune.recommended;
  std::vector<std::size_t> order = cases_around(tune.experiment, use, 1);
  const auto is_in_column = [&](std::optional<std::size_t> i) {
    return !i || is_same_except_first(tune.experiment, *i, use);
  };
  const std::size_t most = is_in_column(tune.now) && is_in_column(tune.best) ? 4 : 3;
  for (const std::optional<std::size_t>& other : {tune.best, tune.now})
    if (other && std::find(order.begin(), order.end(), *other) == order.end())
      order.insert(other == tune.now ? order.begin() : order.end(), *other);
  const auto is_known = [&](std::size_t i) {
    return judgement.measured(i) || (i < tune.candidates.size() && tune.candidates[i].predicted);
  };
  std::erase_if(order, [&](std::size_t i) { return !is_known(i); });
  std::vector<std::size_t> kept;
  const auto keep = [&](std::optional<std::size_t> i) {
    if (i && judgement.measured(*i) && kept.size() < most &&
        std::find(kept.begin(), kept.end(), *i) == kept.end())
      kept.push_back(*i);
  };
  keep(use);
  keep(tune.now);
  keep(tune.best);
  const auto at = std::find(order.begin(), order.end(), use);
  if (at != order.end() && at != order.begin()) keep(*std::prev(at));
  if (at != order.end() && std::next(at) != order.end() && kept.size() < most &&
      std::find(kept.begin(), kept.end(), *std::next(at)) == kept.end())
    kept.push_back(*std::next(at));
  for (const std::size_t i : order) keep(i);
  std::vector<SettingRow> rows;
  for (const std::size_t i : order) {
    if (std::find(kept.begin(), kept.end(), i) == kept.end()) continue;
    SettingRow row{i};
    if (judgement.measured(i)) {
      row.samples_per_s = judgement.rate(i).mean;
      if (judgement.has_busy(i)) row.busy = judgement.busy(i).mean;
    } else {
      const Forecast& forecast = *tune.candidates[i].predicted;
      row.samples_per_s = forecast.samples_per_s;
      if (forecast.busy > 0) row.busy = forecast.busy;
      row.remark = "predicted";
    }
    row.is_marked = i == use;
    if (tune.now == i) row.remark = "now";
    if (i == *tune.recommended && is_tune_proven(tune))
      row.remark += (row.remark.empty() ? "" : ", ") + remark_of_goal(tune);
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace

Answer answer_tune(const Tune& tune) {
  Answer answer;
  if (!tune.recommended) {
    answer.headline = "No setting could be run: " + plain_figures(reason_for_nothing(tune));
    answer.tone = LineTone::bad;
    answer.last.push_back({"More", "-v"});
    return answer;
  }
  const CaseStatistics judgement(tune.experiment.cases);
  const bool is_good = is_present_good_enough(tune, judgement);
  answer.headline = tune_headline(tune, judgement);
  if (is_good) {
    const std::string nothing =
        tune.after_next_step ? "nothing among these settings; " : "nothing; ";
    answer.first.push_back({"Fix", nothing + describe_best(tune, judgement, *tune.now)});
  } else {
    const std::string call = call_of_tune(tune);
    answer.first.push_back({"Fix", call, "", call.size() <= 72});
  }
  if (const std::string why = describe_tuned_limit(tune); !why.empty())
    answer.first.push_back({"Why", why});
  const bool has_gpu_column = !tuned_device(tune).empty();
  answer.table = settings_table(tune.experiment, rows_of_tune(tune, judgement),
                                has_gpu_column ? "GPU busy" : "busy");
  if (!is_good && tune.best && tune.best != tune.recommended)
    if (const std::string best = describe_best(tune, judgement, *tune.recommended);
        best.starts_with("the fastest"))
      answer.last.push_back({"Also", best});
  name_simulated_gpu(answer, tune.experiment.cases[*tune.recommended].config);
  answer.last.push_back(
      {"More", answer.ending.empty()
                   ? "-v (all settings, memory modes, model error), --html page.html"
                   : "-v (all settings), --html page.html"});
  if (!is_tune_proven(tune)) answer.last.push_back({"Next", next_of_tune(tune)});
  return answer;
}

}  // namespace loaderscope
