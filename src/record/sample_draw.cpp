#include "record/sample_draw.h"

#include <algorithm>

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

SampleRow row_of(std::int64_t sample, std::int32_t worker, const StepEvents& events) {
  SampleRow row;
  row.sample = sample;
  row.batch = events.batch;
  row.worker = worker;
  row.epoch = events.epoch;
  return row;
}

}  // namespace

void SampleCollector::restart() {
  samples_.restart();
  batches_.restart();
  told_apart_ = 0;
}

void SampleCollector::offer(const SpansInFlight& parts, const StepEvents& events) {
  const std::int64_t samples_before = samples_.seen();
  parts.each_of_step([&](std::int32_t worker, const SpansInFlight::Part& part) {
    offer_samples(worker, part, events);
  });
  if (samples_.seen() > samples_before) {
    ++told_apart_;
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
      SampleRow row = row_of(at->sample, worker, events);
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
  SampleRow row = row_of(-std::max<std::int64_t>(events.samples, 1), events.worker, events);
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
  SampleReservoir& drawn = told_apart_ >= batches_.seen() ? samples_ : batches_;
  record.reservoir_seen = drawn.seen();
  record.reservoir = drawn.take();
}

}  // namespace loaderscope
