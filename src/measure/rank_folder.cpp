#include "measure/rank_folder.h"

#include <algorithm>
#include <utility>

namespace loaderscope {
namespace {

bool stalls_more(const Exemplar& a, const Exemplar& b) { return a.row.idle() > b.row.idle(); }

Bytes memory_of(const Exemplar& exemplar) {
  return static_cast<Bytes>(sizeof(Exemplar) + exemplar.spans.size() * sizeof(exemplar.spans[0]));
}

SampleRow::Part* part_of(SampleRow& row, Stage stage) {
  const auto found = std::find(kSampleStages.begin(), kSampleStages.end(), stage);
  if (found == kSampleStages.end()) return nullptr;
  return &row.parts[static_cast<std::size_t>(found - kSampleStages.begin())];
}

}  // namespace

RankFolder::RankFolder(const FoldOptions& options, std::int32_t rank)
    : options_(options),
      workers_(static_cast<std::size_t>(std::max(options.workers, 1))),
      reservoir_(options.reservoir_rows, options.seed ^ (0x9e3779b97f4a7c15u * (static_cast<std::uint64_t>(rank) + 1))) {
  record_.rows = StepRows(options.step_row_memory);
}

void RankFolder::first_ask(Nanos at) {
  record_.first_ask = record_.window_begin = record_.window_end = last_end_ = at;
}

RankFolder::BatchInFlight* RankFolder::in_flight(std::int64_t batch) {
  if (batch < first_batch_) return nullptr;
  const auto index = static_cast<std::size_t>(batch - first_batch_);
  if (index >= batches_.size()) batches_.resize(index + 1);
  return batches_[index].delivered ? nullptr : &batches_[index];
}

bool RankFolder::is_delivered(std::int64_t batch) const {
  if (batch < first_batch_) return true;
  const auto index = static_cast<std::size_t>(batch - first_batch_);
  return index < batches_.size() && batches_[index].delivered;
}

void RankFolder::span(std::int32_t worker, const Span& span) {
  SpanQueue& queue = workers_[static_cast<std::size_t>(worker)];
  drop_old_spans(worker);
  queue.push(span);
  if (span.batch < 0) return;
  BatchInFlight* batch = in_flight(span.batch);
  if (batch == nullptr) return;
  const std::int64_t end = queue.end_position();
  if (!batch->segments.empty() && batch->segments.back().worker == worker &&
      batch->segments.back().end == end - 1) {
    batch->segments.back().end = end;
  } else {
    batch->segments.push_back({worker, end - 1, end});
  }
}

void RankFolder::deliverable(std::int64_t batch, Nanos at) {
  if (options_.in_order) ready_.push({at, batch});
}

Nanos RankFolder::later_ready(std::int64_t batch) {
  while (!ready_.empty() && ready_.top().batch <= batch) ready_.pop();
  return ready_.empty() ? kNever : ready_.top().at;
}

void RankFolder::begin_step(const StepEvents& events) {
  current_ = events;
  current_clamped_ = clamp_into_order(current_, last_end_);
}

StepView RankFolder::view() {
  const SpanQueue& queue = workers_[static_cast<std::size_t>(current_.worker)];
  StepView view;
  view.events = &current_;
  view.idle_begin = last_end_;
  view.worker = queue.timeline();
  view.worker_was_up = queue.has_dropped();
  view.later_ready = later_ready(current_.batch);
  return view;
}

void RankFolder::end_step(const StepView& own, const StepView* straggler) {
  StepRow row = book_step(own, straggler);
  row.clamped = current_clamped_;
  if (!row.warmup && !window_open_) {
    window_open_ = true;
    record_.warmup_steps = record_.rows.size();
    record_.window_begin = row.idle_begin;
  }
  record_.rows.push_back(row);
  last_end_ = record_.window_end = row.compute_end;

  static const std::vector<Segment> kNoSegments;
  BatchInFlight* batch = in_flight(current_.batch);
  const std::vector<Segment> segments = batch ? std::move(batch->segments) : kNoSegments;
  count_stages(segments, window_open_);
  keep_exemplar(row, segments);
  if (batch) batch->delivered = true;
  forget_delivered();
  for (const Segment& segment : segments) drop_old_spans(segment.worker);
}

void RankFolder::count_stages(const std::vector<Segment>& segments, bool measured) {
  PerStage<StageStats>& stages = measured ? record_.stages : warmup_stages_;
  for (const Segment& segment : segments) count_segment(segment, stages, measured);
  count_events(stages);
  (measured ? record_.samples : warmup_samples_) += current_.samples;
  (measured ? record_.read_bytes : warmup_read_) += current_.read_bytes;
  (measured ? record_.delivered_bytes : warmup_delivered_) += current_.delivered_bytes;
}

void RankFolder::count_segment(const Segment& segment, PerStage<StageStats>& stages, bool measured) {
  const SpanQueue& queue = workers_[static_cast<std::size_t>(segment.worker)];
  for (std::int64_t at = segment.begin; at < segment.end; ++at) {
    const Span& span = queue.at(at);
    stages[span.stage].add(span.end - span.begin, span.cpu, span.queued, span.bytes);
  }
  if (measured) offer_samples(segment);
}

void RankFolder::offer_samples(const Segment& segment) {
  const SpanQueue& queue = workers_[static_cast<std::size_t>(segment.worker)];
  std::int64_t at = segment.begin;
  while (at < segment.end) {
    const std::int64_t sample = queue.at(at).sample;
    std::int64_t end = at + 1;
    while (end < segment.end && queue.at(end).sample == sample) ++end;
    if (sample >= 0 && reservoir_.wants_next()) {
      SampleRow row;
      row.sample = sample;
      row.batch = current_.batch;
      row.worker = segment.worker;
      row.epoch = current_.epoch;
      for (std::int64_t i = at; i < end; ++i) {
        const Span& span = queue.at(i);
        row.bytes = std::max(row.bytes, span.bytes);
        SampleRow::Part* part = part_of(row, span.stage);
        if (part == nullptr) continue;
        part->wall += span.end - span.begin;
        part->cpu += span.cpu;
        part->queued += span.queued;
      }
      reservoir_.keep(row);
    }
    at = end;
  }
}

void RankFolder::count_events(PerStage<StageStats>& stages) {
  const auto count = [&](Stage stage, const Interval& interval, Bytes bytes) {
    if (interval.ran()) stages[stage].add(interval.wall(), interval.cpu, interval.queued, bytes);
  };
  count(Stage::transport, current_.send, current_.delivered_bytes);
  count(Stage::transport_recv, current_.receive, current_.delivered_bytes);
  count(Stage::pin, current_.pin, current_.delivered_bytes);
  count(Stage::h2d, current_.copy, current_.delivered_bytes);
  count(Stage::launch, current_.launch, 0);
  if (current_.compute.wall() > 0) count(Stage::compute, current_.compute, 0);
}

Exemplar RankFolder::make_exemplar(const StepRow& row, const std::vector<Segment>& segments) const {
  Exemplar exemplar;
  exemplar.events = current_;
  exemplar.row = row;
  for (const Segment& segment : segments) {
    const SpanQueue& queue = workers_[static_cast<std::size_t>(segment.worker)];
    for (std::int64_t at = segment.begin; at < segment.end; ++at) {
      exemplar.spans.emplace_back(segment.worker, queue.at(at));
    }
  }
  return exemplar;
}

void RankFolder::keep_exemplar(const StepRow& row, const std::vector<Segment>& segments) {
  const bool first = row.step < options_.first_exemplars;
  const bool worst =
      !first && !row.warmup && options_.worst_exemplars > 0 && row.idle() > 0 &&
      (std::ssize(worst_) < options_.worst_exemplars || row.idle() > worst_.front().row.idle());
  if (!first && !worst) return;

  Exemplar exemplar = make_exemplar(row, segments);
  const Bytes needed = memory_of(exemplar);
  if (worst && std::ssize(worst_) == options_.worst_exemplars) {
    std::pop_heap(worst_.begin(), worst_.end(), stalls_more);
    exemplar_bytes_ -= memory_of(worst_.back());
    worst_.pop_back();
  }
  // The first steps may fill half of the memory; the worst always find room in the other half.
  if (exemplar_bytes_ + needed > (first ? options_.exemplar_memory / 2 : options_.exemplar_memory)) {
    exemplar.spans.clear();
    exemplar.spans.shrink_to_fit();
  }
  exemplar_bytes_ += memory_of(exemplar);
  if (first) {
    record_.exemplars.push_back(std::move(exemplar));
    return;
  }
  exemplar.worst = true;
  worst_.push_back(std::move(exemplar));
  std::push_heap(worst_.begin(), worst_.end(), stalls_more);
}

void RankFolder::forget_delivered() {
  while (!batches_.empty() && batches_.front().delivered) {
    batches_.pop_front();
    ++first_batch_;
  }
}

// A span is of no more use when no later step can wait for it and its batch is delivered.
void RankFolder::drop_old_spans(std::int32_t worker) {
  SpanQueue& queue = workers_[static_cast<std::size_t>(worker)];
  while (!queue.empty() && queue.front().end <= last_end_) {
    const Span& front = queue.front();
    if (front.batch >= 0 && !is_delivered(front.batch)) return;
    if (front.batch < 0) count_unbatched(front);
    queue.drop_front();
  }
}

// Start-up and rest belong to no batch; they count for the window in which they ended.
void RankFolder::count_unbatched(const Span& span) {
  const bool measured = window_open_ && span.end > record_.window_begin;
  PerStage<StageStats>& stages = measured ? record_.stages : warmup_stages_;
  stages[span.stage].add(span.end - span.begin, span.cpu, span.queued, 0);
}

RankRecord RankFolder::finish() {
  for (const SpanQueue& queue : workers_) {
    for (const Span& span : queue.timeline()) {
      if (span.batch < 0 && span.end <= last_end_) count_unbatched(span);
    }
  }
  if (!window_open_) {
    // The input ended inside the warm-up: the whole run is the window.
    for (std::size_t i = 0; i < kStages; ++i) record_.stages[static_cast<Stage>(i)].merge(warmup_stages_[static_cast<Stage>(i)]);
    record_.samples = warmup_samples_;
    record_.read_bytes = warmup_read_;
    record_.delivered_bytes = warmup_delivered_;
    record_.warmup_steps = 0;
  }
  for (Exemplar& exemplar : worst_) record_.exemplars.push_back(std::move(exemplar));
  std::sort(record_.exemplars.begin(), record_.exemplars.end(),
            [](const Exemplar& a, const Exemplar& b) { return a.row.step < b.row.step; });
  record_.reservoir_seen = reservoir_.seen();
  record_.reservoir = reservoir_.take();
  return std::move(record_);
}

std::int64_t RankFolder::spans_held() const {
  std::int64_t held = 0;
  for (const SpanQueue& queue : workers_) held += queue.held();
  return held;
}

}  // namespace loaderscope
