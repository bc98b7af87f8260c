#include "record/rank_folder.h"

#include <algorithm>
#include <tuple>
#include <utility>

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

// Number of spans of one worker that triggers a removal of its old spans. Each step already does so
// for the workers that made it.
constexpr std::size_t kManySpans = 64;

constexpr std::size_t kComputesBeforeDevice = 16;

std::uint64_t rank_seed(const FoldOptions& options, std::int32_t rank) {
  return options.seed ^ (0x9e3779b97f4a7c15u * (static_cast<std::uint64_t>(rank) + 1));
}

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
  for (const DeviceWork& task : events.device_work())
    stages[task.stage].add(task.at.wall(), task.submit.cpu, task.submit.queued,
                           task.stage == Stage::h2d ? events.copied_bytes : events.delivered_bytes);
  samples += events.samples;
  add_checked(read_bytes, events.read_bytes);
  add_checked(delivered_bytes, events.delivered_bytes);
  work += events.work;
}

RankFolder::RankFolder(const FoldOptions& options, std::int32_t rank)
    : options_(options),
      workers_(static_cast<std::size_t>(std::max(options.workers, 1))),
      parts_(options.workers),
      draw_(options.reservoir_rows, rank_seed(options, rank)),
      exemplars_(options) {
  record_.rows = StepRows(options.step_row_memory);
}

void RankFolder::first_ask(Nanos at) {
  record_.first_ask = record_.window_begin = record_.window_end = last_end_ = at;
  path_.first_ask(at);
}

void RankFolder::span(std::int32_t index, const Span& span) {
  if (closed_) return;
  Worker& worker = worker_entry(workers_, index);
  worker.first_end = std::min(worker.first_end, span.end);
  if (span.batch >= 0) {
    parts_.add(index, span);
    return;
  }
  if (worker.rest.size() >= kManySpans) drop_old(worker);
  worker.rest.push_back(span);
}

void RankFolder::deliverable(std::int64_t batch, Nanos at) {
  if (options_.in_order && !closed_) ready_.push({at, batch});
}

Nanos RankFolder::later_ready(std::int64_t batch) {
  while (!ready_.empty() && ready_.top().batch <= batch) ready_.pop();
  return ready_.empty() ? kNever : ready_.top().at;
}

Nanos RankFolder::put_in_order(StepEvents& next) const { return clamp_into_order(next, last_end_); }

void RankFolder::begin_step(StepEvents& events, Nanos moved_before) {
  current_clamped_ = moved_before + put_in_order(events);
  current_ = &events;
  parts_.begin_step(
      events.batch, options_.in_order,
      [&](std::int32_t worker, const SpansInFlight::Part& part) { keep_late(worker, part); });
  maker_ = chief_maker();
  if (options_.only_account) return;
  path_.begin_step(events);
  parts_.each_of_step(
      [&](std::int32_t worker, const SpansInFlight::Part& part) { path_.made(worker, part); });
  path_.get_ready(events, maker_);
}

// Returns the cause that took most of the CPU time of the current batch.
Cause RankFolder::chief_maker() const {
  PerCause<Nanos> cpu{};
  parts_.each_of_step([&](std::int32_t, const SpansInFlight::Part& part) {
    for (const Span& span : part) cpu[stage_cause(span.stage)] += span.cpu;
  });
  const auto most = std::max_element(cpu.begin(), cpu.end());
  return *most > 0 ? static_cast<Cause>(most - cpu.begin()) : Cause::transport;
}

StepView RankFolder::view(std::vector<Span>& its_worker) {
  StepView view;
  view.events = current_;
  view.idle_begin = last_end_;
  const Worker& worker = worker_entry(workers_, current_->worker);
  its_worker.clear();
  if (current_->finished > last_end_) put_timeline(worker, its_worker);
  view.worker = its_worker;
  view.worker_was_up = worker.first_end <= last_end_;
  view.maker = maker_;
  view.later_ready = later_ready(current_->batch);
  view.lanes_rested = lanes_rested();
  return view;
}

// Appends the spans of the worker from the end of the last compute until the batch was finished,
// ordered by time.
void RankFolder::put_timeline(const Worker& worker, std::vector<Span>& timeline) const {
  const auto put = [&](const Span& span) {
    if (span.end > last_end_ && span.begin < current_->finished) timeline.push_back(span);
  };
  parts_.each_of_worker(current_->worker, [&](const SpansInFlight::Part& part) {
    for (const Span& span : part) put(span);
  });
  for (std::size_t i = 0; i < worker.rest.size(); ++i) put(worker.rest[i]);
  const auto before = [](const Span& a, const Span& b) {
    return std::tuple(a.begin, a.end, !is_startup(a.stage)) <
           std::tuple(b.begin, b.end, !is_startup(b.stage));
  };
  if (!std::is_sorted(timeline.begin(), timeline.end(), before))
    std::stable_sort(timeline.begin(), timeline.end(), before);
}

StepRow RankFolder::end_step(const StepView& own, const StepView* straggler,
                             const RankFolder* slowest) {
  StepRow row = book_step(own, straggler);
  if (options_.ranks_elsewhere && straggler == nullptr)
    row.waiting_for_ranks = current_->compute.begin - current_->ready;
  row.clamped = current_clamped_;
  row.device.shared = shared_with_compute() + current_->hidden_production;
  keep_device_times();
  if (!row.warmup && !window_open_) open_window(row);
  last_end_ = record_.window_end = row.compute_end;
  if (options_.only_account) {
    (window_open_ ? window_ : warmup_).samples += current_->samples;
  } else {
    path_.compute(*current_, slowest != nullptr ? &slowest->path_to_ready() : nullptr);
    count_step();
    exemplars_.offer(row, *current_, parts_);
  }
  parts_.each_of_step([&](std::int32_t worker, const SpansInFlight::Part& part) {
    keep_late(worker, part);
    drop_old(worker_entry(workers_, worker));
  });
  parts_.end_step();
  record_.rows.push_back(row);  // at the end: where it throws, the step is folded all the same
  return row;
}

// Returns the time in which the device made the current batch and computed an earlier step.
Nanos RankFolder::shared_with_compute() const {
  std::vector<TimeRange> making;
  for (const DeviceWork& task : current_->device_work())
    if (task.stage != Stage::h2d) making.push_back({task.at.begin, task.at.end});
  std::sort(making.begin(), making.end(),
            [](TimeRange a, TimeRange b) { return a.begin < b.begin; });
  Nanos shared = 0, counted_until = 0;
  for (TimeRange part : making) {
    part.begin = std::max(part.begin, counted_until);
    counted_until = std::max(counted_until, part.end);
    for (std::size_t i = 0; i < computes_.size(); ++i)
      shared += intersect(part, computes_[i]).length();
  }
  return shared;
}

// A lane without a rest before its task is the limit, and a free slot would not have helped.
Nanos RankFolder::lanes_rested() const {
  Nanos rested = current_->slot_wait;
  for (const DeviceWork& task : current_->device_work())
    rested = std::min(rested, task.at.begin - lane_ends_.at(index_of(task.lane)));
  return std::max<Nanos>(rested, 0);
}

// Keeps what later steps need. The device thread begins the next batch after this one was
// deliverable. Before the first step that is made on the device, only some computes are kept: no
// loader without a device needs them.
void RankFolder::keep_device_times() {
  for (const DeviceWork& task : current_->device_work()) {
    Nanos& end = lane_ends_.at(index_of(task.lane));
    end = std::max(end, task.at.end);
  }
  made_on_device_ = made_on_device_ || current_->has_device_thread();
  if (!made_on_device_ && computes_.size() == kComputesBeforeDevice) computes_.pop_front();
  computes_.push_back({current_->compute.begin, current_->compute.end});
  while (!computes_.empty() && computes_.front().end <= current_->deliverable)
    computes_.pop_front();
}

void RankFolder::open_window(const StepRow& first) {
  window_open_ = true;
  record_.warmup_steps = record_.rows.size();
  record_.window_begin = first.idle_begin;
  draw_.restart();
  path_.open_window();
}

void RankFolder::count_step() {
  StageTotals& totals = window_open_ ? window_ : warmup_;
  parts_.each_of_step(
      [&](std::int32_t, const SpansInFlight::Part& part) { totals.add_spans(part); });
  draw_.offer(parts_, *current_);
  totals.add_step(*current_);
}

// Keeps spans that ended after the last compute although their batch is no longer in flight. The
// clocks may differ, or the batch was left out at the end of a stream.
void RankFolder::keep_late(std::int32_t index, const SpansInFlight::Part& part) {
  if (part.empty() || part.back().end <= last_end_) return;
  for (const Span& span : part)
    if (span.end > last_end_) worker_entry(workers_, index).rest.push_back(span);
}

// A span that ended before the last compute did: no later step can wait for it.
void RankFolder::drop_old(Worker& worker) {
  while (!worker.rest.empty() && worker.rest.front().end <= last_end_) {
    if (worker.rest.front().batch < 0) count_unbatched(worker.rest.front());
    worker.rest.pop_front();
  }
}

// Start-up and rest belong to no batch; they count for the window in which they ended.
void RankFolder::count_unbatched(const Span& span) {
  if (options_.only_account) return;
  const bool measured = window_open_ && span.end > record_.window_begin;
  StageTotals& totals = measured ? window_ : warmup_;
  totals.stages[span.stage].add(span.end - span.begin, span.cpu, span.queued, 0);
}

RankRecord RankFolder::finish() {
  for (const Worker& worker : workers_) {
    for (std::size_t i = 0; i < worker.rest.size(); ++i) {
      const Span& span = worker.rest[i];
      if (span.batch < 0 && span.end <= last_end_) count_unbatched(span);
    }
  }
  if (!window_open_) record_.warmup_steps = 0;  // the input ended inside the warm-up
  put_totals(window_open_ ? window_ : warmup_);
  record_.critical_path = path_.window_path();
  record_.exemplars = exemplars_.take();
  draw_.finish(record_);
  return std::move(record_);
}

void RankFolder::put_totals(const StageTotals& totals) {
  record_.stages = totals.stages;
  record_.samples = totals.samples;
  record_.read_bytes = totals.read_bytes;
  record_.delivered_bytes = totals.delivered_bytes;
  record_.work = totals.work;
  // The start-up time is known even if workers started only in the warm-up.
  for (const Stage stage : {Stage::startup, Stage::startup_parent})
    if (record_.stages[stage].count == 0) record_.stages[stage] = warmup_.stages[stage];
}

std::int64_t RankFolder::spans_held() const {
  std::int64_t held = parts_.spans_held();
  for (const Worker& worker : workers_) held += static_cast<std::int64_t>(worker.rest.size());
  return held;
}

}  // namespace loaderscope
