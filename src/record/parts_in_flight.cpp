#include "record/parts_in_flight.h"

#include <algorithm>
#include <iterator>

namespace loaderscope {

PartsInFlight::PartsInFlight(std::int32_t workers)
    : latest_(static_cast<std::size_t>(std::max(workers, 1))) {}

void PartsInFlight::add(std::int32_t worker, const Span& span) {
  part_of(worker, span.batch).push_back(span);
}

PartsInFlight::Part& PartsInFlight::part_of(std::int32_t worker, std::int64_t batch) {
  Latest& latest = of_worker(latest_, worker);
  if (latest.part == nullptr || latest.batch != batch) {
    latest.batch = batch;
    const auto found = in_flight_.find({batch, worker});
    latest.part = found != in_flight_.end() ? &found->second : &add_part({batch, worker});
  }
  return *latest.part;
}

PartsInFlight::Part& PartsInFlight::add_part(const InFlight::key_type& key) {
  if (spare_.empty()) return in_flight_[key];
  InFlight::node_type part = std::move(spare_.back());
  spare_.pop_back();
  part.key() = key;
  return in_flight_.insert(std::move(part)).position->second;
}

void PartsInFlight::forget_latest(const InFlight::key_type& key) {
  Latest& latest = of_worker(latest_, key.second);
  if (latest.batch == key.first) latest.part = nullptr;
}

void PartsInFlight::begin_step(std::int64_t batch, bool in_order) {
  // Samples of those before it were left out at the end of a stream.
  while (in_order && !in_flight_.empty() && in_flight_.begin()->first.first < batch) {
    forget_latest(in_flight_.begin()->first);
    in_flight_.erase(in_flight_.begin());
  }
  auto at = in_flight_.lower_bound({batch, 0});
  while (at != in_flight_.end() && at->first.first == batch) {
    forget_latest(at->first);
    step_.push_back(in_flight_.extract(at++));
  }
}

void PartsInFlight::end_step() {
  for (auto& part : step_) {
    part.mapped().clear();
    spare_.push_back(std::move(part));
  }
  step_.clear();
}

std::int64_t PartsInFlight::spans_held() const {
  std::int64_t held = 0;
  for (const auto& [key, part] : in_flight_) held += std::ssize(part);
  return held;
}

}  // namespace loaderscope
