#include "engine/guest/training.h"

#include <algorithm>
#include <iterator>

#include "measure/thread_meter.h"

namespace loaderscope::guest {
namespace {

constexpr Nanos kPatience = 2 * kSecond;  // with facts of a batch that has been delivered

FoldOptions fold_options(const RunConfig& given, const LoaderFacts& loader) {
  FoldOptions options;
  options.workers = static_cast<std::int32_t>(std::max<std::int64_t>(1, loader.num_workers));
  options.in_order = loader.in_order || loader.num_workers == 0;
  options.seed = static_cast<std::uint64_t>(given.seed.value);
  return options;
}

// What is not known is as if it had taken no time.
void fill_gaps(StepEvents& events) {
  const Nanos take = events.take;
  if (events.finished == 0) events.finished = events.send.ran() ? events.send.begin : take;
  if (events.begun == 0) events.begun = events.finished;
  if (events.dispatched == 0) events.dispatched = events.begun;
  if (events.deliverable == 0) {
    // A reader may have the bytes before the writer's call has returned.
    events.deliverable = take;
    if (events.send.ran()) events.deliverable = std::min(events.deliverable, events.send.end);
    if (events.receive.ran()) {
      events.deliverable =
          std::min(events.deliverable, std::max(events.receive.begin, events.finished));
    }
  }
  events.finished = std::min(events.finished, events.deliverable);
  events.deliverable = std::min(events.deliverable, take);
}

}  // namespace

Training::Training(const RunConfig& given, const LoaderFacts& loader)
    : given_(given),
      loader_(loader),
      folder_(std::make_unique<Folder>(fold_options(given, loader))),
      window_(given_, loader.num_workers) {}

void Training::advance(bool no_more) {
  if (no_more && open_) end_open_step();
  fold_steps(no_more);
}

// The program has ended while it trained the last batch, or when it asked for another one.
void Training::end_open_step() {
  const bool asked_again = asked_ > batches_known_[*open_].events.take;
  if (asked_again) close_step(asked_);
  open_.reset();
}

bool Training::take_fact(const Fact& fact) {
  if (fact.kind == FactKind::copied || fact.kind == FactKind::computed) {
    of_device(fact);
    return true;
  }
  if (fact.kind == FactKind::epoch) {
    begin_epoch(fact);
    return true;
  }
  const auto first = first_of_epoch_.find({fact.iterator, fact.generation});
  if (first == first_of_epoch_.end()) return false;
  const std::int64_t batch = first->second + std::max<std::int64_t>(fact.batch, 0);
  switch (fact.kind) {
    case FactKind::dispatched:
      dispatched(fact, batch);
      break;
    case FactKind::ask:
      asked_ = fact.begin;
      break;
    case FactKind::take:
      taken(fact, batch);
      break;
    case FactKind::ended:
      stopped_for_ = fact.end - fact.begin;
      break;
    default:
      of_batch(fact, batch);
  }
  return true;
}

// What the script did between two epochs is its own, as what it does between two batches is; what
// the iterator took to end is booked as if it had ended when the next one begins.
void Training::begin_epoch(const Fact& fact) {
  if (open_) {
    const Nanos take = batches_known_[*open_].events.take;
    close_step(std::max(take, fact.begin - stopped_for_.value_or(0)));
  }
  stopped_for_.reset();
  if (first_ask_ == 0) {
    first_ask_ = fact.begin;
    window_.first_ask(first_ask_);
    folder_->first_ask(0, first_ask_);
  }
  forget_cut_short();
  first_of_epoch_[{fact.iterator, fact.generation}] = batches_;
  epoch_begun_ = fact.begin;
  epoch_dispatch_ = 0;
  epoch_fresh_ = true;
  ++epoch_;
}

// Batches of an epoch that was left before its end are never taken.
void Training::forget_cut_short() {
  for (auto batch = batches_known_.begin(); batch != batches_known_.end();) {
    const bool taken = batch->second.events.take != 0;
    batch = taken ? std::next(batch) : batches_known_.erase(batch);
  }
}

void Training::dispatched(const Fact& fact, std::int64_t batch) {
  batches_ = std::max(batches_, batch + 1);
  if (epoch_dispatch_ == 0) epoch_dispatch_ = fact.begin;
  StepEvents& events = batches_known_[batch].events;
  events.dispatched = fact.begin;
  events.worker = fact.worker;
}

void Training::taken(const Fact& fact, std::int64_t batch) {
  if (open_) close_step(asked_);
  Batch& taken = batches_known_[batch];
  StepEvents& events = taken.events;
  events.step = steps_++;
  events.batch = batch;
  events.epoch = epoch_;
  events.first_of_epoch = epoch_fresh_;
  events.epoch_dispatch = epoch_dispatch_ > 0 ? epoch_dispatch_ : epoch_begun_;
  events.made_by_trainer = loader_.num_workers == 0;
  events.ask = epoch_fresh_ ? epoch_begun_ : asked_;
  events.take = fact.begin;
  epoch_fresh_ = false;
  if (trains_itself()) {
    open_ = batch;
  } else {
    on_device_[events.step] = batch;
  }
  last_taken_ = fact.begin;
  with_gradients_ |= fact.count != 0;
}

void Training::close_step(Nanos compute_end) {
  Batch& batch = batches_known_[*open_];
  batch.events.ready = batch.events.take;
  batch.events.compute = {batch.events.take, compute_end, 0, 0};
  spent_ += compute_end - batch.events.ask;
  batch.complete_since = monotonic_now();
  complete_.push_back(*open_);
  open_.reset();
}

void Training::of_device(const Fact& fact) {
  const auto found = on_device_.find(fact.count);
  if (found == on_device_.end()) return;
  Batch& batch = batches_known_[found->second];
  if (fact.kind == FactKind::copied) {
    batch.events.copy = {fact.begin, fact.end, 0, 0};
    return;
  }
  const Interval& copy = batch.events.copy;
  batch.events.compute = {fact.begin, fact.end, 0, 0};
  batch.events.ready = copy.ran() ? copy.end : batch.events.take;
  spent_ += fact.end - batch.events.ask;
  batch.complete_since = monotonic_now();
  complete_.push_back(found->second);
  on_device_.erase(found);
}

void Training::deliverable(std::int64_t batch, Nanos at) { folder_->deliverable(0, batch, at); }

void Training::of_batch(const Fact& fact, std::int64_t number) {
  Batch& batch = batches_known_[number];
  StepEvents& events = batch.events;
  const Interval interval = {fact.begin, fact.end, fact.cpu, 0};
  switch (fact.kind) {
    case FactKind::begun:
      batch.begun = true;
      events.begun = fact.end;
      events.worker = fact.worker;
      events.worker_idle = loader_.num_workers > 0 ? fact.end - fact.begin : 0;
      break;
    case FactKind::finished:
      batch.finished = true;
      events.finished = fact.begin;
      events.samples = static_cast<std::int32_t>(fact.count);
      events.delivered_bytes = fact.bytes;
      break;
    case FactKind::sent:
      batch.sent = true;
      events.send = interval;
      if (!batch.pins) deliverable(number, fact.end);
      break;
    case FactKind::received:
      batch.received = true;
      batch.pins = fact.count == 1;
      events.receive = interval;
      break;
    case FactKind::pinned:
      events.pin = interval;
      break;
    case FactKind::deliverable:
      batch.deliverable = true;
      events.deliverable = fact.begin;
      deliverable(number, fact.begin);
      break;
    default:
      break;
  }
}

bool Training::take_span(std::int32_t worker, const Span& span) {
  Span booked = span;
  if (span.batch >= 0) {
    const auto first = first_of_epoch_.find({iterator_of(span), generation_of(span)});
    if (first == first_of_epoch_.end()) return false;
    booked.batch = first->second + batch_of(span);
  }
  book_span(worker, booked);
  return true;
}

// A worker of the epoch before may still end while its successor begins.
void Training::book_span(std::int32_t worker, Span span) {
  if (worker >= std::max<std::int64_t>(1, loader_.num_workers)) return;
  Nanos& last = span_end_[worker];
  span.begin = std::max(span.begin, last);
  if (span.end <= span.begin) return;
  last = span.end;
  const Nanos length = span.end - span.begin;
  span.cpu = std::min(span.cpu, length);
  span.queued = std::min(span.queued, length - span.cpu);
  if (span.batch >= 0 && (span.stage == Stage::read || span.stage == Stage::read_decompress))
    batches_known_[span.batch].events.read_bytes += span.bytes;
  folder_->span(0, worker, span);
}

bool Training::all_known(const Batch& batch) const {
  if (!batch.begun || !batch.finished) return false;
  if (batch.events.made_by_trainer) return true;
  return batch.sent && batch.received && (!batch.pins || batch.deliverable);
}

void Training::fold_steps(bool no_more) {
  while (!complete_.empty()) {
    const auto found = batches_known_.find(complete_.front());
    const Batch& batch = found->second;
    const bool waited = monotonic_now() - batch.complete_since > kPatience;
    if (!all_known(batch) && !waited && !no_more) return;
    fold(batch.events);
    batches_known_.erase(found);
    complete_.pop_front();
  }
}

void Training::fold(StepEvents events) {
  if (ended_) return;
  fill_gaps(events);
  events.warmup = window_.is_warmup(events.step, events.compute.end);
  if (!window_open_) window_begin_ = events.compute.end;
  window_open_ |= !events.warmup;
  window_end_ = events.compute.end;
  folder_->step(0, events);
  ++folded_;
  if (!events.warmup) samples_ += events.samples;
  if (!window_.ended()) return;
  ended_ = true;
  folder_->close(0);
}

RankRecord Training::finish() {
  advance(true);
  return std::move(folder_->finish().front());
}

}  // namespace loaderscope::guest
