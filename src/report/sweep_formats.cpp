#include "report/sweep_formats.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "analysis/wording.h"
#include "experiment/data_facts.h"
#include "experiment/settings.h"
#include "loaderscope/errors.h"
#include "report/experiment_text.h"

namespace loaderscope {
namespace {

const DataFacts* find_facts(const Experiment& experiment, const std::string& data) {
  for (const DataFacts& facts : experiment.data) {
    if (facts.data == data) return &facts;
  }
  return nullptr;
}

// The data that is fastest in the first state of the cache, and the first one.
struct Contest {
  const Axis* axis = nullptr;
  std::vector<std::string> caches;
  std::string winner;
  bool is_real = false;  // the winner is faster than the first, beyond their intervals

  const std::string& first() const { return axis->values.front(); }
};

std::optional<Contest> find_contest(const Experiment& experiment, const SweepAnswer& answer) {
  Contest contest{data_axis(experiment), list_caches(experiment), "", false};
  if (contest.axis == nullptr || contest.axis->values.size() < 2) return std::nullopt;
  const auto mean_rate = [&](const std::string& data) -> std::optional<Estimate> {
    const auto best = best_with(experiment, answer, data, contest.caches.front());
    return best ? answer.rate[*best] : std::nullopt;
  };
  std::optional<Estimate> fastest;
  for (const std::string& data : contest.axis->values) {
    const std::optional<Estimate> rate = mean_rate(data);
    if (!rate || (fastest && rate->mean <= fastest->mean)) continue;
    fastest = rate;
    contest.winner = data;
  }
  const std::optional<Estimate> first = mean_rate(contest.first());
  if (!fastest || !first) return std::nullopt;
  constexpr double kNoGain = 1.03;
  contest.is_real = fastest->low > first->high && fastest->mean > kNoGain * first->mean;
  return contest;
}

// "cold 632 -> 1,733 samples/s (35.4 % -> 97.0 % busy)"
std::string change_text(const Experiment& experiment, const SweepAnswer& answer,
                        const Contest& contest, const std::string& to) {
  std::string text;
  for (const std::string& cache : contest.caches) {
    const auto before = best_with(experiment, answer, contest.first(), cache);
    const auto after = best_with(experiment, answer, to, cache);
    if (!before || !after) continue;
    text += fmt::format("{}{}{} -> {} samples/s", text.empty() ? "" : ", ",
                        cache.empty() ? "" : cache + " ", format_rate(answer.rate[*before]->mean),
                        format_rate(answer.rate[*after]->mean));
    const auto &busy_before = answer.busy[*before], &busy_after = answer.busy[*after];
    if (busy_before && busy_after)
      text += fmt::format(" ({} -> {} busy)", format_percent(std::min(1.0, busy_before->mean)),
                          format_percent(std::min(1.0, busy_after->mean)));
  }
  return text;
}

std::string bound_by(const Case& one) { return one.runs.empty() ? "" : one.runs.back().bound_by; }

// Returns whether the first data set waits for storage, by comparison with warm data.
std::string cause_line(const Experiment& experiment, const SweepAnswer& answer,
                       const Contest& contest) {
  const auto cold = best_with(experiment, answer, contest.first(), "cold");
  const auto warm = best_with(experiment, answer, contest.first(), "warm");
  const bool has_both = std::count(contest.caches.begin(), contest.caches.end(), "cold") > 0 &&
                        std::count(contest.caches.begin(), contest.caches.end(), "warm") > 0;
  if (!has_both || !cold || !warm) return "";
  const Estimate &slow = *answer.rate[*cold], &fast = *answer.rate[*warm];
  const std::string rates =
      fmt::format("{} samples/s cold, {} warm", format_rate(slow.mean), format_rate(fast.mean));
  constexpr double kAlike = 1.03;  // ratio within which both may be equal
  if (fast.high <= kAlike * slow.low)
    return fmt::format("storage is not what {} waits for: {}", shown_text(contest.first()), rates);
  if (fast.low <= slow.high)
    return fmt::format("cannot tell whether storage is what {} waits for: {} cold, {} warm",
                       shown_text(contest.first()), format_rate(slow), format_rate(fast));
  const auto& reading = experiment.cases[*cold].runs.back().reading;
  return fmt::format(
      "storage is what {} waits for: {}{}", shown_text(contest.first()), rates,
      reading ? fmt::format(", {} per sample", format_duration(reading->per_sample)) : "");
}

double disk_of_sample(const DataFacts& facts) {
  return static_cast<double>(facts.disk) /
         static_cast<double>(std::max<std::int64_t>(facts.samples, 1));
}

// Beyond what files lose to their blocks: their samples are not the same bytes, and so it is not
// the format alone that makes the difference.
bool is_smaller(const DataFacts& one, const DataFacts& other) {
  constexpr double kMuchSmaller = 0.9, kBlock = 4096;
  return one.samples > 0 && one.disk > 0 &&
         disk_of_sample(one) + kBlock < kMuchSmaller * disk_of_sample(other);
}

std::string repacking_line(const Experiment& experiment, const SweepAnswer& answer,
                           const Contest& contest) {
  const DataFacts* facts = find_facts(experiment, contest.first());
  if (!experiment.repacking || facts == nullptr) return "";
  const DataFacts* winner = find_facts(experiment, contest.winner);
  if (contest.is_real && winner != nullptr && is_smaller(*winner, *facts))
    return fmt::format(
        "repacking alone does not give that, as the images are smaller or encoded again: a sample "
        "of {} takes {} of the disk, and one of {} takes {}",
        shown_text(contest.winner), format_size(disk_of_sample(*winner)), shown_text(facts->data),
        format_size(disk_of_sample(*facts)));
  const Repacking& repacking = *experiment.repacking;
  std::string text = fmt::format(
      "repacking, without encoding again, takes {} (measured on {}, {})",
      format_duration(repacking.all_samples), plural(repacking.samples, "sample"),
      format_percent(static_cast<double>(repacking.samples) / static_cast<double>(facts->samples)));
  const std::string& cache = contest.caches.front();
  const auto before = best_with(experiment, answer, contest.first(), cache);
  const auto after = best_with(experiment, answer, contest.winner, cache);
  const auto samples = static_cast<double>(facts->samples);
  const double saved = samples / answer.rate[*before]->mean - samples / answer.rate[*after]->mean;
  if (!contest.is_real || saved <= 0) return text + "; it does not pay back";
  const double epochs = std::ceil(seconds(repacking.all_samples) / saved);
  return text +
         fmt::format(
             ", an epoch of {} saves {} of {}: paid back within {}", format_count(facts->samples),
             format_duration(static_cast<Nanos>(saved * 1e9)),
             format_duration(static_cast<Nanos>(samples / answer.rate[*before]->mean * 1e9)),
             plural(static_cast<std::int64_t>(epochs), cache.empty() ? "epoch" : cache + " epoch"));
}

std::string number(double value) { return fmt::format("{:.3g}", value); }

TextTable table_of_formats(const Experiment& experiment, const SweepAnswer& answer) {
  std::vector<std::string> header;
  for (const Axis& axis : experiment.axes) header.push_back(column_name(axis));
  const std::string settings(header.size(), 'l');
  for (const char* name : {"read/sample", "in flight", "requests", "touched/used", "first batch",
                           "index", "disk", "bound by"})
    header.emplace_back(name);
  TextTable table(settings + "rrrrrrrl", header);
  for (std::size_t i = 0; i < experiment.cases.size(); ++i) {
    const Case& one = experiment.cases[i];
    if (!answer.rate[i]) continue;
    const CaseRun& run = one.runs.back();
    std::vector<std::string> row;
    for (const Axis& axis : experiment.axes) row.push_back(setting_text(one, axis.key));
    const CaseReadStats reading = run.reading.value_or(CaseReadStats{});
    row.push_back(run.reading ? format_duration(reading.per_sample) : "");
    row.push_back(run.reading ? number(reading.in_flight) : "");
    row.push_back(run.reading ? number(reading.requests) : "");
    row.push_back(run.reading ? number(reading.touched) : "");
    row.push_back(format_duration(run.first_batch));
    const DataFacts* facts = find_facts(experiment, setting_text(one, data_axis(experiment)->key));
    row.push_back(facts ? format_duration(facts->index) : "");
    row.push_back(facts ? format_size(static_cast<double>(facts->disk)) : "");
    row.push_back(bound_by(one));
    table.add(std::move(row));
  }
  return table;
}

}  // namespace

std::string format_answer(const Experiment& experiment, const SweepAnswer& answer) {
  const std::optional<Contest> contest = find_contest(experiment, answer);
  if (!contest) return "";
  const DataFacts* facts = find_facts(experiment, contest->winner);
  if (contest->is_real) {
    return fmt::format("{} {}: {}", facts != nullptr && facts->is_packed ? "Repack as" : "Use",
                       shown_text(contest->winner),
                       change_text(experiment, answer, *contest, contest->winner));
  }
  std::string text =
      fmt::format("Keep {}: this sweep shows no faster data set", shown_text(contest->first()));
  for (const std::string& data : contest->axis->values) {
    if (data == contest->first()) continue;
    const std::string change = change_text(experiment, answer, *contest, data);
    if (!change.empty()) text += fmt::format("; {}: {}", shown_text(data), change);
  }
  return text;
}

void add_formats(TextReportBuilder& screen, const Experiment& experiment,
                 const SweepAnswer& answer) {
  const std::optional<Contest> contest = find_contest(experiment, answer);
  if (!contest) return;
  screen.line(LinePriority::advice, cause_line(experiment, answer, *contest));
  screen.line(LinePriority::advice, repacking_line(experiment, answer, *contest));
  screen.table(LinePriority::evidence, table_of_formats(experiment, answer));
}

}  // namespace loaderscope
