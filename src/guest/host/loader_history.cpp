// Reports of a process, as facts of a loader, of its batches, and of its workers.
#include "guest/host/loader_history.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <utility>

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
    case GuestEventKind::moved:
      if (fact.batch < 0) moved(taken_last_.value_or(-1), fact.end - fact.begin);
      break;
    default:
      break;
  }
}

void LoaderHistory::take_of_batch(const GuestEvent& fact, Epoch& epoch) {
  const std::optional<std::int64_t> batch = epoch.numbers.of(fact.batch, batches_);
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
      of_batch(fact, known(*batch, epoch), *batch);
  }
}

void LoaderHistory::gpu_did(const GpuRecord& record) {
  if (!gpu_ || window_->ended()) return;  // the last step is folded with all of its GPU activity
  if (record.copy) {
    gpu_->copy(record.begin, record.end, record.bytes);
  } else {
    gpu_->kernel(record.begin, record.end);
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
  const std::int32_t iterator = iterator_of(span);
  const auto later = epochs_.lower_bound({iterator, std::numeric_limits<std::int32_t>::max()});
  if (later == epochs_.begin() || std::prev(later)->first.first != iterator) return false;
  const std::int32_t generation = generation_of(span, std::prev(later)->first.second);
  const auto epoch = epochs_.find({iterator, generation});
  if (epoch == epochs_.end()) return false;
  BatchNumbers& numbers = epoch->second.numbers;
  const auto number = numbers.of(batch_of(span, numbers.next()), batches_);
  if (!number) return true;
  Span booked = span;
  booked.batch = *number;
  const bool reads = span.stage == Stage::read || span.stage == Stage::read_decompress;
  if (window_->span(worker, booked) && reads && may_know(booked.batch))
    known(booked.batch, epoch->second).events.read_bytes += booked.bytes;
  return true;
}

// Limits the run-queue delay to the time off a core.
Interval LoaderHistory::interval_of(const GuestEvent& fact) {
  const Nanos off_cpu = std::max<Nanos>(fact.end - fact.begin - fact.cpu, 0);
  return {fact.begin, fact.end, fact.cpu, std::clamp<Nanos>(fact.queued, 0, off_cpu)};
}

}  // namespace loaderscope::guest
