// Facts about making a batch and sending it to the trainer.
#include <algorithm>

#include "guest/host/loader_history.h"

namespace loaderscope::guest {
namespace {

// Batches under way, far more than any loader has.
constexpr std::size_t kMaxUnderWay = std::size_t{1} << 16;

// Time in which an idle worker's thread responds. It covers two wake-ups.
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

// Returns how long the worker's other work kept its feeder from sending. A feeder of an idle worker
// starts at once.
Nanos LoaderHistory::kept_from_sending(const GuestEvent& sent, const Batch& batch) {
  if (!batch.finished) return 0;
  const Nanos waited = sent.begin - batch.events.finished - sent.queued;
  return waited > kAtOnce ? waited - kAtOnce : 0;
}

// Returns how long the worker delayed its answers. A worker that computes nothing answers at once.
Nanos LoaderHistory::answered(const GuestEvent& fact) {
  const Nanos waited = fact.end - fact.begin;
  const Nanos kept = waited > fact.count * kAtOnce ? waited - fact.count * kAtOnce : 0;
  answers_.descriptors += fact.count;
  answers_.waited += waited;
  answers_.kept += kept;
  return kept;
}

}  // namespace loaderscope::guest
