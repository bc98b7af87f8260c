// How a batch is made and comes to the trainer.
#include <algorithm>

#include "guest/host/loader_history.h"

namespace loaderscope::guest {
namespace {

// Batches under way, far more than any loader has.
constexpr std::size_t kMaxUnderWay = std::size_t{1} << 16;

// What a thread of a worker takes to do what it is asked for, where no other one keeps it: each
// time, two of them wake up.
constexpr Nanos kAtOnce = 300 * kMicrosecond;

}  // namespace

void LoaderHistory::dispatched(const GuestEvent& fact, std::int64_t batch, Epoch& epoch) {
  if (epoch.dispatch == 0) epoch.dispatch = fact.begin;
  StepEvents& events = known(batch, epoch).events;
  events.dispatched = fact.begin;
  events.worker = fact.worker;
}

bool LoaderHistory::may_know(std::int64_t batch) const {
  return batches_known_.size() < kMaxUnderWay || batches_known_.contains(batch);
}

LoaderHistory::Batch& LoaderHistory::known(std::int64_t batch, const Epoch& epoch) {
  Batch& result = batches_known_[batch];
  result.epoch = &epoch;
  return result;
}

void LoaderHistory::of_batch(const GuestEvent& fact, Batch& batch, std::int64_t number) {
  StepEvents& events = batch.events;
  const Interval interval = interval_of(fact);
  switch (fact.kind) {
    case GuestEventKind::begun:
      batch.begun = true;
      events.begun = fact.end;
      events.worker = fact.worker;
      events.worker_idle = batch.epoch->by_trainer ? 0 : fact.end - fact.begin;
      break;
    case GuestEventKind::finished:
      batch.finished = true;
      events.finished = fact.begin;
      events.samples = static_cast<std::int32_t>(std::max<std::int64_t>(fact.count, 0));
      events.delivered_bytes = fact.bytes;
      break;
    case GuestEventKind::sent:
      batch.sent = true;
      events.send = interval;
      events.kept_from_sending = kept_from_sending(fact, batch);
      if (!batch.pins) window_->deliverable(number, fact.end);
      break;
    case GuestEventKind::received:
      batch.received = true;
      ++answers_.batches;
      batch.pins = fact.count == 1;
      events.receive = interval;
      break;
    case GuestEventKind::answered:
      events.answering = answered(fact);
      break;
    case GuestEventKind::pinned:
      events.pin = interval;
      break;
    case GuestEventKind::deliverable:
      batch.deliverable = true;
      events.deliverable = fact.begin;
      window_->deliverable(number, fact.begin);
      break;
    default:
      break;
  }
}

// Of a worker's feeder, which has its turn at once where the worker computes nothing.
Nanos LoaderHistory::kept_from_sending(const GuestEvent& sent, const Batch& batch) {
  if (!batch.finished) return 0;
  const Nanos waited = sent.begin - batch.events.finished - sent.queued;
  return waited > kAtOnce ? waited - kAtOnce : 0;
}

// How long the worker kept it waiting: one that computes nothing answers at once.
Nanos LoaderHistory::answered(const GuestEvent& fact) {
  const Nanos waited = fact.end - fact.begin;
  const Nanos kept = waited > fact.count * kAtOnce ? waited - fact.count * kAtOnce : 0;
  answers_.descriptors += fact.count;
  answers_.waited += waited;
  answers_.kept += kept;
  return kept;
}

}  // namespace loaderscope::guest
