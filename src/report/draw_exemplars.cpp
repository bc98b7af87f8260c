// Pictures of exemplars: some typical steps, and the worst stall of each cause.
#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "analysis/wording.h"
#include "page/charts.h"
#include "report/draw_steps.h"
#include "report/timeline_lanes.h"

namespace loaderscope {
namespace {

constexpr std::size_t kMaxStalls = 5;
constexpr std::int64_t kStepsShown = 4;  // limit for the typical steps

// A stretch of time that is drawn.
struct Shown {
  TimelineLanes scene;
  std::string title, note;
  std::vector<std::string> places;  // targets of links
};

Nanos exemplar_length(const Exemplar& exemplar) {
  return exemplar.row.compute_end - exemplar.row.idle_begin;
}

std::vector<const Exemplar*> measured_by_length(const RankRecord& rank) {
  std::vector<const Exemplar*> exemplars;
  for (const Exemplar& exemplar : rank.exemplars)
    if (!exemplar.events.warmup) exemplars.push_back(&exemplar);
  std::stable_sort(exemplars.begin(), exemplars.end(), [](const Exemplar* a, const Exemplar* b) {
    return exemplar_length(*a) < exemplar_length(*b);
  });
  return exemplars;
}

// Returns the picture of a typical step and the steps before it.
Shown draw_usual(const RankRecord& rank, const Exemplar& usual, const std::string& whose) {
  Nanos begin = usual.row.idle_begin;
  for (const Exemplar& exemplar : rank.exemplars) {
    const std::int64_t before = usual.row.step - exemplar.row.step;
    if (before >= 0 && before < kStepsShown) begin = std::min(begin, exemplar.row.idle_begin);
  }
  return {TimelineLanes(rank, begin, usual.row.compute_end),
          fmt::format("Steps like most: up to step {}", usual.row.step),
          fmt::format("Step {} took {}, the median of those that are kept whole.{}", usual.row.step,
                      format_duration(exemplar_length(usual)), whose),
          {}};
}

// A step in which some causes are waited for longer than in any other that is kept whole.
struct WorstStall {
  const Exemplar* exemplar;
  std::vector<Cause> causes;
};

std::string joined_names(const std::vector<Cause>& causes) {
  std::string text;
  for (const Cause cause : causes)
    text += (text.empty() ? "" : " and ") + std::string(shown_name(name_of(cause)));
  return text;
}

Shown draw_stall(const RankRecord& rank, const WorstStall& worst) {
  const Exemplar& stall = *worst.exemplar;
  const Nanos made = std::min(stall.row.idle_begin, stall.events.begun);
  std::string parts;
  for (const Cause cause : worst.causes)
    parts += fmt::format("{}{} for {}", parts.empty() ? "" : ", ",
                         format_duration(stall.row.stall[cause]), shown_name(name_of(cause)));
  Shown shown{TimelineLanes(rank, made, stall.row.compute_end),
              fmt::format("The worst stall for {}: {} before step {}", joined_names(worst.causes),
                          format_duration(stall.row.idle()), stall.row.step),
              fmt::format("Of it {}. From when its batch was begun to the end of its compute; of "
                          "other batches only those that are kept whole.",
                          parts),
              {}};
  for (const Cause cause : worst.causes) shown.places.push_back(place_of_stall(cause));
  return shown;
}

// Returns the worst stalls of the causes with the longest waits.
std::vector<WorstStall> worst_stalls(const std::vector<const Exemplar*>& exemplars) {
  PerCause<Nanos> sum{};
  for (const Exemplar* exemplar : exemplars) {
    for (const auto& word : Words<Cause>::table())
      sum[word.value] += exemplar->row.stall[word.value];
  }
  std::vector<Cause> causes;
  for (const auto& word : Words<Cause>::table()) {
    if (sum[word.value] > 0) causes.push_back(word.value);
  }
  std::stable_sort(causes.begin(), causes.end(), [&](Cause a, Cause b) { return sum[a] > sum[b]; });
  if (causes.size() > kMaxStalls) causes.resize(kMaxStalls);
  std::vector<WorstStall> worst;
  for (const Cause cause : causes) {
    const Exemplar* longest = *std::max_element(exemplars.begin(), exemplars.end(),
                                                [&](const Exemplar* a, const Exemplar* b) {
                                                  return a->row.stall[cause] < b->row.stall[cause];
                                                });
    const auto known = std::find_if(worst.begin(), worst.end(),
                                    [&](const WorstStall& one) { return one.exemplar == longest; });
    if (known == worst.end())
      worst.push_back({longest, {cause}});
    else
      known->causes.push_back(cause);
  }
  return worst;
}

}  // namespace

std::string place_of_stall(Cause cause) { return fmt::format("stall-{}", name_of(cause)); }

std::string draw_exemplars(const RunRecord& record, std::size_t rank_number) {
  const RankRecord& rank = record.ranks[rank_number];
  const std::vector<const Exemplar*> ordered = measured_by_length(rank);
  if (ordered.size() < 2) return "";
  const Exemplar& usual = *ordered[(ordered.size() - 1) / 2];
  const std::string whose = record.ranks.size() > 1 ? fmt::format(" Of rank {}.", rank_number) : "";
  std::vector<Shown> shown = {draw_usual(rank, usual, whose)};
  for (const WorstStall& worst : worst_stalls(ordered)) shown.push_back(draw_stall(rank, worst));
  rank.rows.for_each([&](const StepRow& row) {
    for (Shown& one : shown) one.scene.see(row);
  });
  std::string text;
  for (const Shown& one : shown) {
    page::Timeline timeline = one.scene.timeline();
    timeline.title = one.title;
    timeline.note = one.note;
    timeline.places = one.places;
    text += drawn(timeline);
  }
  return text;
}

}  // namespace loaderscope
