#include "record/stage_totals.h"

#include "record/checked_sum.h"

namespace loaderscope {
namespace {

// Adds a worker's first call in a batch to its start-up time, without counting another start.
void lengthen(StageStats& starts, const Span& first) {
  starts.wall += first.end - first.begin;
  starts.cpu += first.cpu;
  starts.queued += first.queued;
}

bool is_first_call(const Span& span) { return span.stage == Stage::startup && span.batch >= 0; }

}  // namespace

void StageTotals::add_spans(const std::vector<Span>& part) {
  for (const Span& span : part) {
    if (is_first_call(span))
      lengthen(stages[Stage::startup], span);
    else
      stages[span.stage].wall_histogram.expect(span.end - span.begin);
  }
  for (auto at = part.begin(); at != part.end();) {
    if (is_first_call(*at)) {
      ++at;
      continue;
    }
    if (at->sample < 0) {
      stages[at->stage].add(at->end - at->begin, at->cpu, at->queued, at->bytes);
      ++at;
      continue;
    }
    PerStage<Span> whole{};
    for (const std::int64_t sample = at->sample; at != part.end() && at->sample == sample; ++at) {
      Span& sum = whole[at->stage];
      sum.end += at->end - at->begin;
      sum.cpu += at->cpu;
      sum.queued += at->queued;
      sum.bytes += at->bytes;
      sum.sample = sample;
    }
    for (const Stage stage : kSampleStages) {
      const Span& sum = whole[stage];
      if (sum.sample >= 0) stages[stage].add(sum.end, sum.cpu, sum.queued, sum.bytes);
    }
  }
}

void StageTotals::add_step(const StepEvents& events) {
  const auto add = [&](Stage stage, const Interval& interval, Bytes bytes) {
    if (interval.ran()) stages[stage].add(interval.wall(), interval.cpu, interval.queued, bytes);
  };
  add(Stage::transport, events.send, events.delivered_bytes);
  add(Stage::transport_recv, events.receive, events.delivered_bytes);
  add(Stage::pin, events.pin, events.delivered_bytes);
  add(Stage::h2d, events.copy, events.delivered_bytes);
  add(Stage::launch, events.launch, 0);
  if (events.compute.wall() > 0) add(Stage::compute, events.compute, 0);
  if (events.augmented > 0)
    stages[Stage::gpu_augment].add(events.augmented, 0, 0, events.delivered_bytes);
  samples += events.samples;
  add_checked(read_bytes, events.read_bytes);
  add_checked(delivered_bytes, events.delivered_bytes);
  work += events.work;
}

}  // namespace loaderscope
