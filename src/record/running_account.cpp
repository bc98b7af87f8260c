#include "record/running_account.h"

#include <algorithm>

namespace loaderscope {

void RunningAccount::add(const StepRow& row, Nanos window_begin) {
  compute += row.compute();
  window += row.compute_end - row.idle_begin;
  for (std::size_t c = 0; c < kCauses; ++c) stall.at(c) += row.stall.at(c);
  ++steps;
  samples += row.samples;
  queued += std::max<Nanos>(row.take - std::max(row.deliverable, window_begin), 0);
  ready += row.deliverable <= row.ask ? 1 : 0;
}

void RunningAccount::add(const RunningAccount& others) {
  compute += others.compute;
  window += others.window;
  for (std::size_t c = 0; c < kCauses; ++c) stall.at(c) += others.stall.at(c);
  steps += others.steps;
  samples += others.samples;
  queued += others.queued;
  ready += others.ready;
  ranks += others.ranks;
}

void RunningAccount::subtract(const RunningAccount& earlier) {
  compute -= earlier.compute;
  window -= earlier.window;
  for (std::size_t c = 0; c < kCauses; ++c) stall.at(c) -= earlier.stall.at(c);
  steps -= earlier.steps;
  samples -= earlier.samples;
  queued -= earlier.queued;
  ready -= earlier.ready;
}

void RunningAccountObserver::booked(std::int32_t rank, const StepRow& row) {
  if (row.warmup) return;
  account_.ranks = std::max(account_.ranks, rank + 1);
  const auto index = static_cast<std::size_t>(rank);
  if (index >= window_begins_.size()) window_begins_.resize(index + 1, kNever);
  Nanos& window_begin = window_begins_[index];
  if (window_begin == kNever) window_begin = row.idle_begin;
  account_.add(row, window_begin);
}

}  // namespace loaderscope
