#include "engine/import/steps.h"

#include <algorithm>
#include <utility>

namespace loaderscope::traces {
namespace {

// Steps last from one begin to the next. Work between two marks belongs to the earlier one. Marks
// inside a mark are ignored.
std::vector<TracedStep> from_begin_to_begin(std::vector<StepMark> marks) {
  std::stable_sort(marks.begin(), marks.end(),
                   [](const StepMark& a, const StepMark& b) { return a.begin < b.begin; });
  std::vector<TracedStep> steps;
  for (const StepMark& mark : marks) {
    if (mark.end <= mark.begin || (!steps.empty() && mark.begin < steps.back().at.end)) continue;
    const auto index = static_cast<std::int64_t>(steps.size());
    steps.push_back({{mark.begin, mark.end}, mark.number >= 0 ? mark.number : index});
  }
  for (std::size_t i = 0; i + 1 < steps.size(); ++i) steps[i].at.end = steps[i + 1].at.begin;
  return steps;
}

// The last step ends when the GPU has finished its work.
std::vector<StepMark> marks_of(const std::vector<TimeRange>& asks, TimeRange extent) {
  std::vector<StepMark> marks;
  for (const TimeRange& ask : asks) marks.push_back({ask.begin, ask.end});
  if (!marks.empty()) marks.back().end = std::max(marks.back().end, extent.end);
  return marks;
}

}  // namespace

Nanos TracedSteps::median() const {
  std::vector<Nanos> lengths;
  for (const TracedStep& step : list) lengths.push_back(step.at.length());
  if (lengths.empty()) return 0;
  const auto middle = lengths.begin() + std::ssize(lengths) / 2;
  std::nth_element(lengths.begin(), middle, lengths.end());
  return *middle;
}

const TracedStep* TracedSteps::at(Nanos time) const {
  const auto found = std::partition_point(
      list.begin(), list.end(), [time](const TracedStep& step) { return step.at.end <= time; });
  return found != list.end() && found->at.begin <= time && basis != StepBasis::none ? &*found
                                                                                    : nullptr;
}

TracedSteps steps_of(std::vector<StepMark> marks, const HostView& host, TimeRange extent) {
  TracedSteps steps;
  steps.list = from_begin_to_begin(std::move(marks));
  if (!steps.list.empty()) {
    steps.basis = StepBasis::marks;
    return steps;
  }
  if (!host.is_sampled()) steps.list = from_begin_to_begin(marks_of(host.loader_calls(), extent));
  steps.basis = steps.list.empty() ? StepBasis::none : StepBasis::loader;
  if (steps.list.empty()) steps.list.push_back({extent});
  return steps;
}

}  // namespace loaderscope::traces
