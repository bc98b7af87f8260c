#include "guest/host/hang/movement.h"

#include <algorithm>
#include <utility>

namespace loaderscope::guest {
namespace {

constexpr std::size_t kMostAwaited = std::size_t{1} << 14;  // far more than any loader has

}  // namespace

void Movement::note(const Fact& fact) {
  switch (fact.kind) {
    case FactKind::epoch:
      begin_epoch(fact);
      break;
    case FactKind::ask:
      ask(fact);
      break;
    case FactKind::take:
    case FactKind::replayed:
      take(fact);
      break;
    case FactKind::ended:
      finished_ = std::exchange(current_, Epoch());
      [[fallthrough]];
    case FactKind::failed:
      asking_since_ = 0;
      last_ = fact.end;
      break;
    default:
      of_batch(fact);
  }
}

void Movement::ask(const Fact& fact) {
  asking_since_ = last_ = fact.begin;
  Epoch asked{fact.iterator, fact.generation};
  if (!asked.is_same(current_)) current_ = asked;
}

void Movement::take(const Fact& fact) {
  asking_since_ = 0;
  if (taken_at_ != 0) steps_.add(fact.begin - taken_at_);
  last_ = taken_at_ = fact.begin;
  ++current_.taken;
  under_way_.erase({fact.iterator, fact.generation, fact.batch});
}

void Movement::of_batch(const Fact& fact) {
  if (fact.batch < 0 || fact.kind == FactKind::moved) return;
  UnderWay* one = under_way(fact);
  if (one == nullptr) return;
  AwaitedBatch& batch = one->batch;
  batch.number = fact.batch;
  if (fact.kind == FactKind::dispatched || fact.kind == FactKind::begun) batch.worker = fact.worker;
  one->dispatched |= fact.kind == FactKind::dispatched;
  batch.begun |= fact.kind == FactKind::begun;
  batch.finished |= fact.kind == FactKind::finished;
  batch.sent |= fact.kind == FactKind::sent;
  batch.received |= fact.kind == FactKind::received;
}

// A worker may begin one before it is heard that it was to. What else it tells of one that is not
// known comes behind the take.
Movement::UnderWay* Movement::under_way(const Fact& fact) {
  const Name name{fact.iterator, fact.generation, fact.batch};
  const auto found = under_way_.find(name);
  if (found != under_way_.end()) return &found->second;
  if (fact.kind != FactKind::dispatched && fact.kind != FactKind::begun) return nullptr;
  if (under_way_.size() >= kMostAwaited) forget_strays();
  return under_way_.size() >= kMostAwaited ? nullptr : &under_way_[name];
}

void Movement::forget_strays() {
  std::erase_if(under_way_, [](const auto& entry) { return !entry.second.dispatched; });
}

// An epoch that was cut short has left batches behind.
void Movement::begin_epoch(const Fact& fact) {
  last_ = fact.begin;
  forget_strays();
  std::erase_if(under_way_, [&](const auto& entry) {
    const auto& [iterator, generation, batch] = entry.first;
    const bool is_before = iterator == fact.iterator && generation < fact.generation;
    return is_before || under_way_.size() >= kMostAwaited;
  });
}

Nanos Movement::patience(Nanos least) const {
  constexpr Nanos kTimes = 10;
  constexpr double kNearlyAll = 0.99;
  return std::max(least, kTimes * steps_.quantile(kNearlyAll));
}

bool is_left_alone(const Movement::Epoch& current, const Movement::Epoch& others_finished) {
  return current.iterator >= 0 && others_finished.is_same(current) &&
         others_finished.taken < current.taken;
}

std::vector<AwaitedBatch> Movement::awaited() const {
  std::vector<AwaitedBatch> batches;
  for (const auto& [name, one] : under_way_) {
    const auto& [iterator, generation, batch] = name;
    if (one.dispatched && iterator == current_.iterator && generation == current_.generation)
      batches.push_back(one.batch);
  }
  return batches;
}

}  // namespace loaderscope::guest
