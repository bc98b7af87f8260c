#include "hang/progress_tracker.h"

#include <algorithm>
#include <utility>

namespace loaderscope::hang {
namespace {

constexpr std::size_t kMaxAwaited = std::size_t{1} << 14;  // far more than any loader has

}  // namespace

void ProgressTracker::note(const guest::GuestEvent& fact) {
  switch (fact.kind) {
    case guest::GuestEventKind::epoch:
      begin_epoch(fact);
      break;
    case guest::GuestEventKind::ask:
      ask(fact);
      break;
    case guest::GuestEventKind::take:
    case guest::GuestEventKind::replayed:
      take(fact);
      break;
    case guest::GuestEventKind::ended:
      finished_ = std::exchange(current_, Epoch());
      [[fallthrough]];
    case guest::GuestEventKind::failed:
      asking_since_ = 0;
      last_ = fact.end;
      break;
    default:
      take_batch_fact(fact);
  }
}

void ProgressTracker::ask(const guest::GuestEvent& fact) {
  asking_since_ = last_ = fact.begin;
  Epoch asked{fact.iterator, fact.generation};
  if (!asked.is_same(current_)) current_ = asked;
}

void ProgressTracker::take(const guest::GuestEvent& fact) {
  asking_since_ = 0;
  if (taken_at_ != 0) steps_.add(fact.begin - taken_at_);
  last_ = taken_at_ = fact.begin;
  ++current_.taken;
  in_flight_.erase({fact.iterator, fact.generation, fact.batch});
}

void ProgressTracker::take_batch_fact(const guest::GuestEvent& fact) {
  if (fact.batch < 0 || fact.kind == guest::GuestEventKind::moved) return;
  InFlight* one = find_in_flight(fact);
  if (one == nullptr) return;
  AwaitedBatch& batch = one->batch;
  batch.number = fact.batch;
  if (fact.kind == guest::GuestEventKind::dispatched || fact.kind == guest::GuestEventKind::begun)
    batch.worker = fact.worker;
  one->dispatched |= fact.kind == guest::GuestEventKind::dispatched;
  batch.begun |= fact.kind == guest::GuestEventKind::begun;
  batch.finished |= fact.kind == guest::GuestEventKind::finished;
  batch.sent |= fact.kind == guest::GuestEventKind::sent;
  batch.received |= fact.kind == guest::GuestEventKind::received;
}

// A worker's event may arrive before the trainer's report of the dispatch. Other events of an
// unknown batch arrive after the batch was taken.
ProgressTracker::InFlight* ProgressTracker::find_in_flight(const guest::GuestEvent& fact) {
  const Name name{fact.iterator, fact.generation, fact.batch};
  const auto found = in_flight_.find(name);
  if (found != in_flight_.end()) return &found->second;
  if (fact.kind != guest::GuestEventKind::dispatched && fact.kind != guest::GuestEventKind::begun)
    return nullptr;
  if (in_flight_.size() >= kMaxAwaited) forget_strays();
  return in_flight_.size() >= kMaxAwaited ? nullptr : &in_flight_[name];
}

void ProgressTracker::forget_strays() {
  std::erase_if(in_flight_, [](const auto& entry) { return !entry.second.dispatched; });
}

// Drops batches that remain of an epoch that was cut short.
void ProgressTracker::begin_epoch(const guest::GuestEvent& fact) {
  last_ = fact.begin;
  forget_strays();
  std::erase_if(in_flight_, [&](const auto& entry) {
    const auto& [iterator, generation, batch] = entry.first;
    const bool is_before = iterator == fact.iterator && generation < fact.generation;
    return is_before || in_flight_.size() >= kMaxAwaited;
  });
}

Nanos ProgressTracker::patience(Nanos least) const {
  constexpr Nanos kTimes = 10;
  constexpr double kNearlyAll = 0.99;
  return std::max(least, kTimes * steps_.quantile(kNearlyAll));
}

bool is_left_alone(const ProgressTracker::Epoch& current,
                   const ProgressTracker::Epoch& others_finished) {
  return current.iterator >= 0 && others_finished.is_same(current) &&
         others_finished.taken < current.taken;
}

std::vector<AwaitedBatch> ProgressTracker::awaited() const {
  std::vector<AwaitedBatch> batches;
  for (const auto& [name, one] : in_flight_) {
    const auto& [iterator, generation, batch] = name;
    if (one.dispatched && iterator == current_.iterator && generation == current_.generation)
      batches.push_back(one.batch);
  }
  return batches;
}

}  // namespace loaderscope::hang
