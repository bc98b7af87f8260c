#include "record/kept_details.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <utility>

#include "record/checked_sum.h"

namespace loaderscope {
namespace {

// False for a stage that no sample has.
bool add_time(SampleRow& row, const Span& span) {
  const auto found = std::find(kSampleStages.begin(), kSampleStages.end(), span.stage);
  if (found == kSampleStages.end()) return false;
  SampleRow::Part& part = row.parts[static_cast<std::size_t>(found - kSampleStages.begin())];
  part.wall += span.end - span.begin;
  part.cpu += span.cpu;
  part.queued += span.queued;
  return true;
}

SampleRow make_sample_row(std::int64_t sample, std::int32_t worker, const StepEvents& events) {
  SampleRow row;
  row.sample = sample;
  row.batch = events.batch;
  row.worker = worker;
  row.epoch = events.epoch;
  return row;
}

bool stalls_more(const Exemplar& a, const Exemplar& b) { return a.row.idle() > b.row.idle(); }

Bytes exemplar_bytes(const Exemplar& exemplar) {
  return static_cast<Bytes>(sizeof(Exemplar) + exemplar.spans.size() * sizeof(exemplar.spans[0]));
}

Exemplar make_exemplar(const StepRow& row, const StepEvents& events, const SpansInFlight& parts) {
  Exemplar exemplar;
  exemplar.events = events;
  exemplar.row = row;
  std::size_t spans = 0;
  parts.each_of_step([&](std::int32_t, const SpansInFlight::Part& part) { spans += part.size(); });
  exemplar.spans.reserve(spans);
  parts.each_of_step([&](std::int32_t worker, const SpansInFlight::Part& part) {
    for (const Span& span : part) exemplar.spans.emplace_back(worker, span);
  });
  return exemplar;
}

}  // namespace

void SampleCollector::restart() {
  samples_.restart();
  batches_.restart();
  separated_ = 0;
}

void SampleCollector::offer(const SpansInFlight& parts, const StepEvents& events) {
  const std::int64_t samples_before = samples_.seen();
  parts.each_of_step([&](std::int32_t worker, const SpansInFlight::Part& part) {
    offer_samples(worker, part, events);
  });
  if (samples_.seen() > samples_before) {
    ++separated_;
  } else {
    offer_batch(parts, events);
  }
}

void SampleCollector::offer_samples(std::int32_t worker, const SpansInFlight::Part& part,
                                    const StepEvents& events) {
  for (auto at = part.begin(); at != part.end();) {
    const auto end =
        std::find_if(at, part.end(), [&](const Span& span) { return span.sample != at->sample; });
    if (at->sample >= 0 && samples_.wants_next()) {
      SampleRow row = make_sample_row(at->sample, worker, events);
      for (auto span = at; span != end; ++span) {
        row.bytes = std::max(row.bytes, span->bytes);
        add_time(row, *span);
      }
      samples_.keep(row);
    }
    at = end;
  }
}

// A row of minus the number of samples.
void SampleCollector::offer_batch(const SpansInFlight& parts, const StepEvents& events) {
  SampleRow row =
      make_sample_row(-std::max<std::int64_t>(events.samples, 1), events.worker, events);
  bool is_seen = false;
  parts.each_of_step([&](std::int32_t, const SpansInFlight::Part& part) {
    for (const Span& span : part) {
      if (!add_time(row, span)) continue;
      is_seen = true;
      if (span.stage == Stage::read) add_checked(row.bytes, span.bytes);
    }
  });
  if (is_seen && batches_.wants_next()) batches_.keep(row);
}

void SampleCollector::finish(RankRecord& record) {
  // A loader may time single samples in some batches only, such as each worker's first.
  SampleReservoir& drawn = separated_ >= batches_.seen() ? samples_ : batches_;
  record.reservoir_seen = drawn.seen();
  record.reservoir = drawn.take();
}

SampleReservoir::SampleReservoir(std::int64_t capacity, std::uint64_t seed)
    : capacity_(static_cast<std::size_t>(capacity)), random_(seed) {
  restart();
}

void SampleReservoir::restart() {
  rows_.clear();
  seen_ = 0;
  next_kept_ = capacity_ == 0 ? std::numeric_limits<std::int64_t>::max() : 0;
  weight_ = 1;
}

double SampleReservoir::uniform() { return (static_cast<double>(random_() >> 11) + 0.5) * 0x1p-53; }

void SampleReservoir::draw_skip() {
  weight_ *= std::exp(std::log(uniform()) / static_cast<double>(capacity_));
  const double skip = std::floor(std::log(uniform()) / std::log1p(-weight_));
  next_kept_ = skip < 0x1p62 ? seen_ + static_cast<std::int64_t>(skip)
                             : std::numeric_limits<std::int64_t>::max();
}

void SampleReservoir::keep(const SampleRow& row) {
  if (rows_.size() < capacity_) {
    rows_.push_back(row);
    if (rows_.size() == capacity_) draw_skip();
    return;
  }
  rows_[static_cast<std::size_t>(random_() % capacity_)] = row;
  draw_skip();
}

bool ExemplarKeeper::is_among_worst(const StepRow& row) const {
  return !row.warmup && options_.worst_exemplars > 0 && row.idle() > 0 &&
         (std::ssize(worst_) < options_.worst_exemplars || row.idle() > worst_.front().row.idle());
}

void ExemplarKeeper::offer(const StepRow& row, const StepEvents& events,
                           const SpansInFlight& parts) {
  const bool first = is_first(row);
  if (!first && !is_among_worst(row)) return;
  Exemplar exemplar = make_exemplar(row, events, parts);
  if (!first && std::ssize(worst_) == options_.worst_exemplars) drop_least_of_worst();
  // The first steps may fill half of the memory; the worst always find room in the other half.
  if (!make_room(exemplar, first ? options_.exemplar_memory / 2 : options_.exemplar_memory)) return;
  held_ += exemplar_bytes(exemplar);
  if (first) {
    first_.push_back(std::move(exemplar));
    return;
  }
  exemplar.worst = true;
  worst_.push_back(std::move(exemplar));
  std::push_heap(worst_.begin(), worst_.end(), stalls_more);
}

void ExemplarKeeper::drop_least_of_worst() {
  std::pop_heap(worst_.begin(), worst_.end(), stalls_more);
  held_ -= exemplar_bytes(worst_.back());
  worst_.pop_back();
}

// Drops the spans of the exemplar if they exceed `limit`. Returns false if the exemplar does not
// fit without them.
bool ExemplarKeeper::make_room(Exemplar& exemplar, Bytes limit) {
  if (held_ + exemplar_bytes(exemplar) <= limit) return true;
  exemplar.spans.clear();
  exemplar.spans.shrink_to_fit();
  return held_ + exemplar_bytes(exemplar) <= limit;
}

std::vector<Exemplar> ExemplarKeeper::take() {
  std::move(worst_.begin(), worst_.end(), std::back_inserter(first_));
  std::sort(first_.begin(), first_.end(),
            [](const Exemplar& a, const Exemplar& b) { return a.row.step < b.row.step; });
  return std::move(first_);
}

}  // namespace loaderscope
