#include "record/rank_folder.h"

#include <algorithm>
#include <utility>

namespace loaderscope {
namespace {

// Of a worker, before its old ones are looked at again: a step does that for those who made it.
constexpr std::int64_t kManySpans = 64;

std::uint64_t seed_of(const FoldOptions& options, std::int32_t rank) {
  return options.seed ^ (0x9e3779b97f4a7c15u * (static_cast<std::uint64_t>(rank) + 1));
}

}  // namespace

RankFolder::RankFolder(const FoldOptions& options, std::int32_t rank)
    : options_(options),
      timelines_(static_cast<std::size_t>(std::max(options.workers, 1))),
      parts_(options.workers),
      draw_(options.reservoir_rows, seed_of(options, rank)),
      exemplars_(options) {
  record_.rows = StepRows(options.step_row_memory);
}

void RankFolder::first_ask(Nanos at) {
  record_.first_ask = record_.window_begin = record_.window_end = last_end_ = at;
  path_.first_ask(at);
}

void RankFolder::span(std::int32_t index, const Span& span) {
  if (closed_) return;
  SpanQueue& spans = timeline(index);
  if (spans.held() >= kManySpans) drop_old_spans(index);
  spans.push(span);
  if (span.batch >= 0) parts_.add(index, span);
}

void RankFolder::deliverable(std::int64_t batch, Nanos at) {
  if (options_.in_order && !closed_) ready_.push({at, batch});
}

Nanos RankFolder::later_ready(std::int64_t batch) {
  while (!ready_.empty() && ready_.top().batch <= batch) ready_.pop();
  return ready_.empty() ? kNever : ready_.top().at;
}

Nanos RankFolder::put_in_order(StepEvents& next) const { return clamp_into_order(next, last_end_); }

void RankFolder::begin_step(const StepEvents& events, Nanos moved_before) {
  current_ = events;
  current_clamped_ = moved_before + put_in_order(current_);
  parts_.begin_step(current_.batch, options_.in_order);
  maker_ = chief_maker();
  if (options_.only_account) return;
  path_.begin_step(current_);
  parts_.each_of_step(
      [&](std::int32_t worker, const PartsInFlight::Part& part) { path_.made(worker, part); });
  path_.get_ready(current_, maker_);
}

// What the CPU time of the current batch's making chiefly went into.
Cause RankFolder::chief_maker() const {
  PerCause<Nanos> cpu{};
  parts_.each_of_step([&](std::int32_t, const PartsInFlight::Part& part) {
    for (const Span& span : part) cpu[cause_of(span.stage)] += span.cpu;
  });
  const auto most = std::max_element(cpu.begin(), cpu.end());
  return *most > 0 ? static_cast<Cause>(most - cpu.begin()) : Cause::transport;
}

StepView RankFolder::view() {
  const SpanQueue& queue = timeline(current_.worker);
  StepView view;
  view.events = &current_;
  view.idle_begin = last_end_;
  view.worker = queue.timeline();
  view.worker_was_up = queue.has_dropped();
  view.maker = maker_;
  view.later_ready = later_ready(current_.batch);
  return view;
}

StepRow RankFolder::end_step(const StepView& own, const StepView* straggler,
                             const RankFolder* slowest) {
  StepRow row = book_step(own, straggler);
  if (options_.ranks_elsewhere && straggler == nullptr)
    row.waiting_for_ranks = current_.compute.begin - current_.ready;
  row.clamped = current_clamped_;
  if (!row.warmup && !window_open_) open_window(row);
  last_end_ = record_.window_end = row.compute_end;
  if (options_.only_account) {
    (window_open_ ? window_ : warmup_).samples += current_.samples;
  } else {
    path_.compute(current_, slowest != nullptr ? &slowest->path_to_ready() : nullptr);
    count_step();
    exemplars_.offer(row, current_, parts_);
  }
  parts_.each_of_step(
      [&](std::int32_t worker, const PartsInFlight::Part&) { drop_old_spans(worker); });
  parts_.end_step();
  record_.rows.push_back(row);  // at the end: where it throws, the step is folded all the same
  return row;
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
      [&](std::int32_t, const PartsInFlight::Part& part) { totals.add_spans(part); });
  draw_.offer(parts_, current_);
  totals.add_step(current_);
}

// A span that ended before the last compute did: no later step can wait for it.
void RankFolder::drop_old_spans(std::int32_t index) {
  SpanQueue& spans = timeline(index);
  while (!spans.empty() && spans.front().end <= last_end_) {
    if (spans.front().batch < 0) count_unbatched(spans.front());
    spans.drop_front();
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
  for (const SpanQueue& spans : timelines_) {
    for (const Span& span : spans.timeline()) {
      if (span.batch < 0 && span.end <= last_end_) count_unbatched(span);
    }
  }
  if (!window_open_) record_.warmup_steps = 0;  // the input ended inside the warm-up
  put_totals(window_open_ ? window_ : warmup_);
  record_.critical_path = path_.of_window();
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
  // Workers that came up in the warm-up only: what a start takes is known all the same.
  for (const Stage stage : {Stage::startup, Stage::startup_parent})
    if (record_.stages[stage].count == 0) record_.stages[stage] = warmup_.stages[stage];
}

std::int64_t RankFolder::spans_held() const {
  std::int64_t held = parts_.spans_held();
  for (const SpanQueue& spans : timelines_) held += spans.held();
  return held;
}

}  // namespace loaderscope
