#include "guest/host/loader_history.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>

namespace loaderscope::guest {
namespace {

// Batches under way, far more than any loader has.
constexpr std::size_t kMostUnderWay = std::size_t{1} << 16;

// What a thread of a worker takes to do what it is asked for, where no other one keeps it: each
// time, two of them wake up.
constexpr Nanos kAtOnce = 300 * kMicrosecond;

// Of what its thread waited for a core, as much as it was not on one.
Interval interval_of(const Fact& fact) {
  const Nanos off_cpu = std::max<Nanos>(fact.end - fact.begin - fact.cpu, 0);
  return {fact.begin, fact.end, fact.cpu, std::clamp<Nanos>(fact.queued, 0, off_cpu)};
}

}  // namespace

LoaderHistory::LoaderHistory(const RunConfig& given, const LoaderFacts& loader)
    : given_(given),
      loader_(loader),
      first_workers_(loader.num_workers),
      window_(std::in_place, given, loader) {}

void LoaderHistory::gpu_did(const GpuRecord& record) {
  if (!gpu_) return;
  if (record.copy) {
    gpu_->copy(record.begin, record.end, record.bytes);
  } else {
    gpu_->kernel(record.begin, record.end);
  }
}

bool LoaderHistory::take_fact(const Fact& fact, const LoaderFacts& loader) {
  if (fact.kind == FactKind::epoch) {
    begin_epoch(fact, loader);
    return true;
  }
  const auto epoch = epochs_.find({fact.iterator, fact.generation});
  if (epoch == epochs_.end()) return false;
  take_fact(fact, epoch->second);
  return true;
}

void LoaderHistory::take_fact(const Fact& fact, Epoch& epoch) {
  if (fact.kind == FactKind::ask) {
    asked_ = fact.begin;
    time_.asked(fact.count, fact.begin);
  }
  if (fact.kind == FactKind::ended) {
    stopped_for_ = fact.end - fact.begin;
    time_.ended(fact.begin, fact.end);
  }
  if (fact.kind == FactKind::replayed) replayed(fact, epoch);
  if (fact.kind == FactKind::started) started(fact, epoch);
  if (fact.kind == FactKind::chosen) chosen(fact);
  if (fact.kind == FactKind::wrapped) wrapped(fact.end - fact.begin);
  if (fact.kind == FactKind::trained) trained(fact);
  packing_.take(fact);
  if (fact.kind == FactKind::moved && fact.batch < 0)
    moved(taken_last_.value_or(-1), fact.end - fact.begin);
  if (fact.batch < 0 || fact.kind == FactKind::replayed) return;
  const std::optional<std::int64_t> batch = number_of(epoch, fact.batch);
  if (!batch || !may_know(*batch)) return;
  switch (fact.kind) {
    case FactKind::dispatched:
      dispatched(fact, *batch, epoch);
      break;
    case FactKind::take:
      taken(fact, *batch, epoch);
      break;
    case FactKind::moved:
      moved(*batch, fact.end - fact.begin);
      break;
    default:
      of_batch(fact, known(*batch, epoch), *batch);
  }
}

// In the order in which an epoch gives them, whichever process speaks of one first.
std::optional<std::int64_t> LoaderHistory::number_of(Epoch& epoch, std::int64_t batch) {
  constexpr std::int64_t kMostAhead = std::int64_t{1} << 20;
  constexpr std::size_t kMostRuns = std::size_t{1} << 16;
  if (batch > epoch.next + kMostAhead) return std::nullopt;
  auto& runs = epoch.runs;
  for (; epoch.next <= batch; ++epoch.next, ++batches_) {
    const bool goes_on =
        !runs.empty() && runs.back().second + epoch.next - runs.back().first == batches_;
    if (!goes_on) runs.emplace_back(epoch.next, batches_);
  }
  if (runs.size() > kMostRuns) runs.erase(runs.begin(), runs.begin() + kMostRuns / 2);
  const auto behind =
      std::upper_bound(runs.begin(), runs.end(), batch,
                       [](std::int64_t b, const auto& run) { return b < run.first; });
  if (behind == runs.begin()) return std::nullopt;
  return std::prev(behind)->second + batch - std::prev(behind)->first;
}

// What the script did between two epochs is its own, as what it does between two batches is; what
// the iterator took to end is booked as if it had ended when the next one begins.
void LoaderHistory::begin_epoch(const Fact& fact, const LoaderFacts& loader) {
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
  epoch.by_trainer = loader.seen_workers() == 0;
  epoch.busy_since = fact.begin - ending;
  epoch.taken_in = ++epoch_;
  loader_ = loader;
}

// Batches of an epoch that was left before its end are never taken: it gave none since the one
// before the next began.
void LoaderHistory::forget_cut_short() {
  for (auto batch = batches_known_.begin(); batch != batches_known_.end();) {
    const Epoch* epoch = batch->second.epoch;
    const bool is_left =
        batch->second.events.take == 0 && (epoch == nullptr || epoch->taken_in < epoch_);
    batch = is_left ? batches_known_.erase(batch) : std::next(batch);
  }
}

// Nothing more is told of epochs that many others have come behind.
void LoaderHistory::forget_long_over() {
  constexpr std::size_t kMostEpochs = 4096;
  constexpr std::int32_t kLongOver = 1024;  // epochs
  if (epochs_.size() < kMostEpochs) return;
  std::set<const Epoch*> needed;
  for (const auto& [number, batch] : batches_known_) needed.insert(batch.epoch);
  std::erase_if(epochs_, [&](const auto& one) {
    return one.second.taken_in + kLongOver < epoch_ && !needed.contains(&one.second);
  });
}

// One worker after another: what is between two of them belongs to the later one, and the end of
// those of the epoch before to the first.
void LoaderHistory::started(const Fact& fact, Epoch& epoch) {
  Span span;
  span.begin = std::min(epoch.busy_since, fact.begin);
  span.end = epoch.busy_since = fact.end;
  span.cpu = fact.cpu;
  span.stage = Stage::startup_parent;
  starts_[fact.worker] = span;
}

void LoaderHistory::chosen(const Fact& fact) {
  choice_ = interval_of(fact);
  choosing_ += fact.end - fact.begin;
  ++chosen_;
}

// With workers PyTorch's iterator has a batch in hand when it asks the sampler for the samples of a
// later one, and gives it to the program behind that; without any it asks for those of the batch
// that it then makes. What the sampler takes is the trainer's own time.
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

void LoaderHistory::dispatched(const Fact& fact, std::int64_t batch, Epoch& epoch) {
  if (epoch.dispatch == 0) epoch.dispatch = fact.begin;
  StepEvents& events = known(batch, epoch).events;
  events.dispatched = fact.begin;
  events.worker = fact.worker;
}

void LoaderHistory::taken(const Fact& fact, std::int64_t batch, Epoch& epoch) {
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
  events.made_by_trainer = epoch.by_trainer;
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
  epoch.taken_in = epoch_;
  if (trains_itself()) {
    open_ = batch;
  } else {
    on_device_[events.step] = batch;
  }
  last_taken_ = fact.begin;
  with_gradients_ |= (fact.count & 1) != 0;
  optimizer_waits_ = (fact.count & 2) != 0;
}

// None of the loader's work is in it, and none of its numbers are its own.
void LoaderHistory::replayed(const Fact& fact, Epoch& epoch) {
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

// It is told when the batch that it gives on has been taken, or the next one.
void LoaderHistory::wrapped(Nanos length) {
  if (!open_ || length <= 0) return;
  batches_known_[*open_].for_others += length;
  wrapped_ += length;
}

void LoaderHistory::moved(std::int64_t batch, Nanos length) {
  const auto found = batches_known_.find(batch);
  if (found != batches_known_.end()) found->second.moved += length;
}

bool LoaderHistory::may_know(std::int64_t batch) const {
  return batches_known_.size() < kMostUnderWay || batches_known_.contains(batch);
}

LoaderHistory::Batch& LoaderHistory::known(std::int64_t batch, const Epoch& epoch) {
  Batch& result = batches_known_[batch];
  result.epoch = &epoch;
  return result;
}

void LoaderHistory::of_batch(const Fact& fact, Batch& batch, std::int64_t number) {
  StepEvents& events = batch.events;
  const Interval interval = interval_of(fact);
  switch (fact.kind) {
    case FactKind::begun:
      batch.begun = true;
      events.begun = fact.end;
      events.worker = fact.worker;
      events.worker_idle = batch.epoch->by_trainer ? 0 : fact.end - fact.begin;
      break;
    case FactKind::finished:
      batch.finished = true;
      events.finished = fact.begin;
      events.samples = static_cast<std::int32_t>(std::max<std::int64_t>(fact.count, 0));
      events.delivered_bytes = fact.bytes;
      break;
    case FactKind::sent:
      batch.sent = true;
      events.send = interval;
      events.kept_from_sending = kept_from_sending(fact, batch);
      if (!batch.pins) window_->deliverable(number, fact.end);
      break;
    case FactKind::received:
      batch.received = true;
      ++answers_.batches;
      batch.pins = fact.count == 1;
      events.receive = interval;
      break;
    case FactKind::answered:
      events.answering = answered(fact);
      break;
    case FactKind::pinned:
      events.pin = interval;
      break;
    case FactKind::deliverable:
      batch.deliverable = true;
      events.deliverable = fact.begin;
      window_->deliverable(number, fact.begin);
      break;
    default:
      break;
  }
}

// Of a worker's feeder, which has its turn at once where the worker computes nothing.
Nanos LoaderHistory::kept_from_sending(const Fact& sent, const Batch& batch) {
  if (!batch.finished) return 0;
  const Nanos waited = sent.begin - batch.events.finished - sent.queued;
  return waited > kAtOnce ? waited - kAtOnce : 0;
}

// How long the worker kept it waiting: one that computes nothing answers at once.
Nanos LoaderHistory::answered(const Fact& fact) {
  const Nanos waited = fact.end - fact.begin;
  const Nanos kept = waited > fact.count * kAtOnce ? waited - fact.count * kAtOnce : 0;
  answers_.descriptors += fact.count;
  answers_.waited += waited;
  answers_.kept += kept;
  return kept;
}

bool LoaderHistory::take_span(std::int32_t worker, const Span& span) {
  if (span.batch < 0) {
    // Of one worker the spans come in the order of time, those of its predecessor first.
    const auto start = starts_.find(worker);
    if (span.stage == Stage::startup && start != starts_.end()) {
      window_->span(worker, start->second);
      starts_.erase(start);
    }
    window_->span(worker, span);
    return true;
  }
  const auto epoch = epochs_.find({iterator_of(span), generation_of(span)});
  if (epoch == epochs_.end()) return false;
  const std::optional<std::int64_t> number = number_of(epoch->second, batch_of(span));
  if (!number) return true;
  Span booked = span;
  booked.batch = *number;
  const bool reads = span.stage == Stage::read || span.stage == Stage::read_decompress;
  if (window_->span(worker, booked) && reads && may_know(booked.batch))
    known(booked.batch, epoch->second).events.read_bytes += booked.bytes;
  return true;
}

}  // namespace loaderscope::guest
