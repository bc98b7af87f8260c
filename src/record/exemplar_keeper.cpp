#include "record/exemplar_keeper.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace loaderscope {
namespace {

bool stalls_more(const Exemplar& a, const Exemplar& b) { return a.row.idle() > b.row.idle(); }

Bytes memory_of(const Exemplar& exemplar) {
  return static_cast<Bytes>(sizeof(Exemplar) + exemplar.spans.size() * sizeof(exemplar.spans[0]));
}

Exemplar make_exemplar(const StepRow& row, const StepEvents& events, const SpansInFlight& parts) {
  Exemplar exemplar;
  exemplar.events = events;
  exemplar.row = row;
  std::size_t spans = 0;
  parts.each_of_step([&](std::int32_t, const SpansInFlight::Part& part) { spans += part.size(); });
  exemplar.spans.reserve(spans);
  parts.each_of_step([&](std::int32_t worker, const SpansInFlight::Part& part) {
    for (const Span& span : part) exemplar.spans.emplace_back(worker, span);
  });
  return exemplar;
}

}  // namespace

bool ExemplarKeeper::is_among_worst(const StepRow& row) const {
  return !row.warmup && options_.worst_exemplars > 0 && row.idle() > 0 &&
         (std::ssize(worst_) < options_.worst_exemplars || row.idle() > worst_.front().row.idle());
}

void ExemplarKeeper::offer(const StepRow& row, const StepEvents& events,
                           const SpansInFlight& parts) {
  const bool first = is_first(row);
  if (!first && !is_among_worst(row)) return;
  Exemplar exemplar = make_exemplar(row, events, parts);
  if (!first && std::ssize(worst_) == options_.worst_exemplars) drop_least_of_worst();
  // The first steps may fill half of the memory; the worst always find room in the other half.
  if (!make_room(exemplar, first ? options_.exemplar_memory / 2 : options_.exemplar_memory)) return;
  held_ += memory_of(exemplar);
  if (first) {
    first_.push_back(std::move(exemplar));
    return;
  }
  exemplar.worst = true;
  worst_.push_back(std::move(exemplar));
  std::push_heap(worst_.begin(), worst_.end(), stalls_more);
}

void ExemplarKeeper::drop_least_of_worst() {
  std::pop_heap(worst_.begin(), worst_.end(), stalls_more);
  held_ -= memory_of(worst_.back());
  worst_.pop_back();
}

// Drops the spans of the exemplar if they exceed `limit`. Returns false if the exemplar does not
// fit without them.
bool ExemplarKeeper::make_room(Exemplar& exemplar, Bytes limit) {
  if (held_ + memory_of(exemplar) <= limit) return true;
  exemplar.spans.clear();
  exemplar.spans.shrink_to_fit();
  return held_ + memory_of(exemplar) <= limit;
}

std::vector<Exemplar> ExemplarKeeper::take() {
  std::move(worst_.begin(), worst_.end(), std::back_inserter(first_));
  std::sort(first_.begin(), first_.end(),
            [](const Exemplar& a, const Exemplar& b) { return a.row.step < b.row.step; });
  return std::move(first_);
}

}  // namespace loaderscope
