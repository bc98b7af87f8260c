#include "record/spans_in_flight.h"

#include <algorithm>
#include <iterator>
#include <tuple>

namespace loaderscope {

SpansInFlight::SpansInFlight(std::int32_t workers)
    : latest_(static_cast<std::size_t>(std::max(workers, 1))) {}

void SpansInFlight::add(std::int32_t worker, const Span& span) {
  Latest& latest = worker_entry(latest_, worker);
  if (latest.place == kNowhere || latest.batch != span.batch)
    latest = {span.batch, find_place(worker, span.batch)};
  part_at(latest.place).push_back(span);
}

std::vector<SpansInFlight::Entry>::iterator SpansInFlight::first_from(std::int64_t batch,
                                                                      std::int32_t worker) {
  return std::lower_bound(in_flight_.begin(), in_flight_.end(), std::tie(batch, worker),
                          [](const Entry& entry, const auto& key) {
                            return std::tie(entry.batch, entry.worker) < key;
                          });
}

SpansInFlight::Place SpansInFlight::find_place(std::int32_t worker, std::int64_t batch) {
  const auto at = first_from(batch, worker);
  if (at != in_flight_.end() && at->batch == batch && at->worker == worker) return at->place;
  return in_flight_.insert(at, {batch, worker, new_place()})->place;
}

SpansInFlight::Place SpansInFlight::new_place() {
  if (spare_.empty()) {
    parts_.emplace_back();
    return static_cast<Place>(parts_.size() - 1);
  }
  const Place place = spare_.back();
  spare_.pop_back();
  return place;
}

void SpansInFlight::free(Place place) {
  part_at(place).clear();
  spare_.push_back(place);
}

void SpansInFlight::forget_latest(const Entry& entry) {
  Latest& latest = worker_entry(latest_, entry.worker);
  if (latest.batch == entry.batch) latest.place = kNowhere;
}

void SpansInFlight::end_step() {
  for (const Entry& entry : step_) free(entry.place);
  step_.clear();
}

std::int64_t SpansInFlight::spans_held() const {
  std::int64_t held = 0;
  for (const Entry& entry : in_flight_) held += std::ssize(part_at(entry.place));
  return held;
}

}  // namespace loaderscope
