// Reports of a process, as facts of a loader, of its batches, and of its workers.
#include "guest/host/loader_history.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <set>

namespace loaderscope::guest {

LoaderHistory::LoaderHistory(const RunConfig& given, const LoaderFacts& loader)
    : given_(given),
      loader_(loader),
      first_workers_(loader.num_workers),
      window_(std::in_place, given, loader) {}

bool LoaderHistory::take_fact(const GuestEvent& fact, const LoaderFacts& loader) {
  if (fact.kind == GuestEventKind::epoch) {
    begin_epoch(fact, loader);
    return true;
  }
  const auto epoch = epochs_.find({fact.iterator, fact.generation});
  if (epoch == epochs_.end()) return false;
  take_fact(fact, epoch->second);
  return true;
}

void LoaderHistory::take_fact(const GuestEvent& fact, Epoch& epoch) {
  take_of_loader(fact, epoch);
  send_stats_.take(fact);
  if (fact.batch >= 0 && fact.kind != GuestEventKind::replayed) take_of_batch(fact, epoch);
}

void LoaderHistory::take_of_loader(const GuestEvent& fact, Epoch& epoch) {
  switch (fact.kind) {
    case GuestEventKind::ask:
      asked_ = fact.begin;
      time_.asked(fact.count, fact.begin);
      break;
    case GuestEventKind::ended:
      stopped_for_ = fact.end - fact.begin;
      time_.ended(fact.begin, fact.end);
      break;
    case GuestEventKind::replayed:
      replayed(fact, epoch);
      break;
    case GuestEventKind::started:
      started(fact, epoch);
      break;
    case GuestEventKind::chosen:
      chosen(fact);
      break;
    case GuestEventKind::wrapped:
      wrapped(fact.end - fact.begin);
      break;
    case GuestEventKind::trained:
      trained(fact);
      break;
    case GuestEventKind::decoded_on_gpu:
      if (gpu_ && trains_itself()) gpu_->decode_call(fact.begin, fact.end);
      break;
    case GuestEventKind::moved:
      if (fact.batch < 0) moved(taken_last_.value_or(-1), fact.end - fact.begin);
      break;
    default:
      break;
  }
}

void LoaderHistory::take_of_batch(const GuestEvent& fact, Epoch& epoch) {
  const std::optional<std::int64_t> batch = epoch.numbers.assign_number(fact.batch, batches_);
  if (!batch || !may_know(*batch)) return;
  switch (fact.kind) {
    case GuestEventKind::dispatched:
      dispatched(fact, *batch, epoch);
      break;
    case GuestEventKind::take:
      taken(fact, *batch, epoch);
      break;
    case GuestEventKind::moved:
      moved(*batch, fact.end - fact.begin);
      break;
    default:
      apply_to_batch(fact, known(*batch, epoch), *batch);
  }
}

void LoaderHistory::gpu_did(const GpuRecord& record) {
  if (!gpu_ || window_->ended()) return;  // the last step is folded with all of its GPU activity
  switch (record.kind) {
    case GpuRecord::Kind::kernel:
      gpu_->kernel(record.begin, record.end, record.call);
      break;
    case GpuRecord::Kind::copy:
      gpu_->copy(record.begin, record.end, record.bytes, record.call);
      break;
    case GpuRecord::Kind::stage:
      gpu_->add_stage(record.call, record.made);
      break;
  }
}

bool LoaderHistory::take_span(std::int32_t worker, const Span& span) {
  if (span.batch < 0) {
    // Spans of one worker come in the order of time. Spans of its predecessor come first.
    const auto start = starts_.find(worker);
    if (span.stage == Stage::startup && start != starts_.end()) {
      window_->span(worker, start->second);
      starts_.erase(start);
    }
    window_->span(worker, span);
    return true;
  }
  const std::int32_t iterator = span_iterator(span);
  const auto later = epochs_.lower_bound({iterator, std::numeric_limits<std::int32_t>::max()});
  if (later == epochs_.begin() || std::prev(later)->first.first != iterator) return false;
  const std::int32_t generation = span_generation(span, std::prev(later)->first.second);
  const auto epoch = epochs_.find({iterator, generation});
  if (epoch == epochs_.end()) return false;
  BatchNumbers& numbers = epoch->second.numbers;
  const auto number = numbers.assign_number(span_batch(span, numbers.next()), batches_);
  if (!number) return true;
  Span booked = span;
  booked.batch = *number;
  const bool reads = span.stage == Stage::read || span.stage == Stage::read_decompress;
  if (window_->span(worker, booked) && reads && may_know(booked.batch))
    known(booked.batch, epoch->second).events.read_bytes += booked.bytes;
  return true;
}

// Limits the run-queue delay to the time off a core.
Interval LoaderHistory::fact_interval(const GuestEvent& fact) {
  const Nanos off_cpu = std::max<Nanos>(fact.end - fact.begin - fact.cpu, 0);
  return {fact.begin, fact.end, fact.cpu, std::clamp<Nanos>(fact.queued, 0, off_cpu)};
}

// Begin of an epoch, and removal of old epochs.

// The script's own work between two epochs counts as its work, as between two batches. The time in
// which the iterator ended is booked right before the next epoch.
void LoaderHistory::begin_epoch(const GuestEvent& fact, const LoaderFacts& loader) {
  if (open_) {
    const Nanos take = batches_known_[*open_].given;
    close_step(std::max(take, fact.begin - stopped_for_.value_or(0)));
  }
  const Nanos ending = std::exchange(stopped_for_, std::nullopt).value_or(0);
  if (first_ask_ == 0) {
    first_ask_ = fact.begin;
    window_->first_ask(first_ask_);
  }
  forget_cut_short();
  forget_long_over();
  time_.begin_epoch();
  Epoch& epoch = epochs_[{fact.iterator, fact.generation}];
  epoch = Epoch{};
  epoch.begun = fact.begin;
  epoch.trainer_makes = loader.seen_workers() == 0;
  epoch.busy_since = fact.begin - ending;
  epoch.epoch_at_take = ++epoch_;
  loader_ = loader;
}

// Batches of an epoch that was left before its end are never taken: it gave none since the one
// before the next began.
void LoaderHistory::forget_cut_short() {
  for (auto batch = batches_known_.begin(); batch != batches_known_.end();) {
    const Epoch* epoch = batch->second.epoch;
    const bool is_left =
        batch->second.events.take == 0 && (epoch == nullptr || epoch->epoch_at_take < epoch_);
    batch = is_left ? batches_known_.erase(batch) : std::next(batch);
  }
}

// Forgets epochs that many others have followed. No report about them can come.
void LoaderHistory::forget_long_over() {
  constexpr std::size_t kMaxEpochs = 4096;
  constexpr std::int32_t kLongOver = 1024;  // epochs
  if (epochs_.size() < kMaxEpochs) return;
  std::set<const Epoch*> needed;
  for (const auto& [number, batch] : batches_known_) needed.insert(batch.epoch);
  std::erase_if(epochs_, [&](const auto& one) {
    return one.second.epoch_at_take + kLongOver < epoch_ && !needed.contains(&one.second);
  });
}

// One worker after another: what is between two of them belongs to the later one, and the end of
// those of the epoch before to the first.
void LoaderHistory::started(const GuestEvent& fact, Epoch& epoch) {
  Span span;
  span.begin = std::min(epoch.busy_since, fact.begin);
  span.end = epoch.busy_since = fact.end;
  span.cpu = fact.cpu;
  span.stage = Stage::startup_parent;
  starts_[fact.worker] = span;
}

// The batches that the program takes, and what its own thread does for them.

void LoaderHistory::chosen(const GuestEvent& fact) {
  choice_ = fact_interval(fact);
  choosing_ += fact.end - fact.begin;
  ++chosen_;
}

// Books the time of the sampler, which is the trainer's own time. With workers, PyTorch's iterator
// receives a batch and chooses the samples of a later one before it returns. Without workers, it
// chooses the samples of the batch that it makes next.
void LoaderHistory::put_choice(StepEvents& events) const {
  const bool within = choice_.ran() && choice_.begin >= asked_ && choice_.end <= events.take;
  if (!within) return;
  events.launch = choice_;
  if (!events.made_by_trainer) {
    events.take = choice_.begin;
  } else if (!events.first_of_epoch) {
    events.ask = choice_.end;
    events.ask_queued = choice_.queued;
  }
}

void LoaderHistory::taken(const GuestEvent& fact, std::int64_t batch, Epoch& epoch) {
  if (open_) close_step(asked_);
  // A batch that is taken for another one is none whose making is known.
  if (batches_known_[batch].events.take != 0) batch = batches_++;
  if (const auto last = batches_known_.find(taken_last_.value_or(-1)); last != batches_known_.end())
    last->second.next_take = fact.begin;
  taken_last_ = batch;
  Batch& taken = batches_known_[batch];
  StepEvents& events = taken.events;
  events.step = steps_++;
  events.batch = batch;
  events.epoch = epoch_;
  events.first_of_epoch = epoch.fresh;
  events.epoch_dispatch = epoch.dispatch > 0 ? epoch.dispatch : epoch.begun;
  events.made_by_trainer = epoch.trainer_makes;
  events.ask = epoch.fresh ? epoch.begun : asked_;
  events.take = fact.begin;
  time_.got(events.ask, events.take);
  taken.given = events.take;
  put_choice(events);
  events.take_queued =
      std::clamp<Nanos>(fact.queued, 0, std::max<Nanos>(events.take - events.ask, 0));
  if (epoch.fresh) {
    between_epochs_ += fact.begin - (last_taken_ > 0 ? last_taken_ : fact.begin);
    ++epochs_taken_from_;
  }
  epoch.fresh = false;
  epoch.epoch_at_take = epoch_;
  if (trains_itself()) {
    open_ = batch;
  } else {
    on_device_[events.step] = batch;
  }
  last_taken_ = fact.begin;
  with_gradients_ |= (fact.count & 1) != 0;
  optimizer_waits_ = (fact.count & 2) != 0;
}

// Adds a step without work of the loader. Its number is negative, so it takes none of the loader's
// numbers.
void LoaderHistory::replayed(const GuestEvent& fact, Epoch& epoch) {
  const std::int64_t number = -++replays_;
  Batch& again = batches_known_[number];
  again.begun = again.finished = again.sent = again.received = true;
  again.replays = fact.batch;
  StepEvents& events = again.events;
  events.dispatched = events.begun = events.finished = events.deliverable = asked_;
  taken(fact, number, epoch);
}

void LoaderHistory::waited_for(std::int32_t other, const WaitForBatch& wait) {
  if (!open_ || time_.asks() || time_.thread() != wait.thread) return;
  Batch& batch = batches_known_[*open_];
  const Nanos within = wait.end - std::max(wait.begin, batch.given);
  if (within <= 0) return;
  batch.for_others += within;
  waited_for_others_[other] += within;
}

// Adds the wrapper's own time. It is reported when the wrapper's batch has been taken, or the next
// one.
void LoaderHistory::wrapped(Nanos length) {
  if (!open_ || length <= 0) return;
  batches_known_[*open_].for_others += length;
  wrapped_ += length;
}

void LoaderHistory::moved(std::int64_t batch, Nanos length) {
  const auto found = batches_known_.find(batch);
  if (found != batches_known_.end()) found->second.moved += length;
}

}  // namespace loaderscope::guest
