#include "record/rank_folder.h"

#include <algorithm>
#include <utility>

#include "record/checked_sum.h"

namespace loaderscope {
namespace {

bool stalls_more(const Exemplar& a, const Exemplar& b) { return a.row.idle() > b.row.idle(); }

Bytes memory_of(const Exemplar& exemplar) {
  return static_cast<Bytes>(sizeof(Exemplar) + exemplar.spans.size() * sizeof(exemplar.spans[0]));
}

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

std::uint64_t seed_of(const FoldOptions& options, std::int32_t rank) {
  return options.seed ^ (0x9e3779b97f4a7c15u * (static_cast<std::uint64_t>(rank) + 1));
}

}  // namespace

RankFolder::RankFolder(const FoldOptions& options, std::int32_t rank)
    : options_(options),
      workers_(static_cast<std::size_t>(std::max(options.workers, 1))),
      reservoir_(options.reservoir_rows, seed_of(options, rank)),
      batches_(options.reservoir_rows, seed_of(options, rank)) {
  record_.rows = StepRows(options.step_row_memory);
}

void RankFolder::first_ask(Nanos at) {
  record_.first_ask = record_.window_begin = record_.window_end = last_end_ = at;
  path_.first_ask(at);
}

RankFolder::Part& RankFolder::part_of(std::int32_t index, std::int64_t batch) {
  Worker& worker = this->worker(index);
  if (worker.part == nullptr || worker.batch != batch) {
    worker.batch = batch;
    const auto found = in_flight_.find({batch, index});
    worker.part = found != in_flight_.end() ? &found->second : &add_part({batch, index});
  }
  return *worker.part;
}

RankFolder::Part& RankFolder::add_part(const InFlight::key_type& key) {
  if (spare_.empty()) return in_flight_[key];
  InFlight::node_type part = std::move(spare_.back());
  spare_.pop_back();
  part.key() = key;
  return in_flight_.insert(std::move(part)).position->second;
}

void RankFolder::take_parts(std::int64_t batch) {
  // Those before it never come: their samples were left out at the end of a stream.
  while (options_.in_order && !in_flight_.empty() && in_flight_.begin()->first.first < batch) {
    Worker& worker = this->worker(in_flight_.begin()->first.second);
    if (worker.batch == in_flight_.begin()->first.first) worker.part = nullptr;
    in_flight_.erase(in_flight_.begin());
  }
  auto at = in_flight_.lower_bound({batch, 0});
  while (at != in_flight_.end() && at->first.first == batch) {
    Worker& worker = this->worker(at->first.second);
    if (worker.batch == batch) worker.part = nullptr;
    parts_.push_back(in_flight_.extract(at++));
  }
}

void RankFolder::give_back_parts() {
  for (auto& part : parts_) {
    part.mapped().clear();
    spare_.push_back(std::move(part));
  }
  parts_.clear();
}

void RankFolder::span(std::int32_t index, const Span& span) {
  if (closed_) return;
  drop_old_spans(index);
  worker(index).timeline.push(span);
  if (span.batch >= 0) part_of(index, span.batch).push_back(span);
}

void RankFolder::deliverable(std::int64_t batch, Nanos at) {
  if (options_.in_order && !closed_) ready_.push({at, batch});
}

Nanos RankFolder::later_ready(std::int64_t batch) {
  while (!ready_.empty() && ready_.top().batch <= batch) ready_.pop();
  return ready_.empty() ? kNever : ready_.top().at;
}

void RankFolder::begin_step(const StepEvents& events) {
  current_ = events;
  current_clamped_ = clamp_into_order(current_, last_end_);
  take_parts(current_.batch);
  follow_path();
}

void RankFolder::follow_path() {
  path_.begin_step(current_);
  for (const auto& part : parts_) path_.made(part.key().second, part.mapped());
  path_.get_ready(current_, maker());
}

// What the CPU time of the current batch's making chiefly went into.
Cause RankFolder::maker() const {
  PerCause<Nanos> cpu{};
  for (const auto& part : parts_)
    for (const Span& span : part.mapped()) cpu[cause_of(span.stage)] += span.cpu;
  const auto most = std::max_element(cpu.begin(), cpu.end());
  return *most > 0 ? static_cast<Cause>(most - cpu.begin()) : Cause::transport;
}

StepView RankFolder::view() {
  const SpanQueue& queue = worker(current_.worker).timeline;
  StepView view;
  view.events = &current_;
  view.idle_begin = last_end_;
  view.worker = queue.timeline();
  view.worker_was_up = queue.has_dropped();
  view.maker = maker();
  view.later_ready = later_ready(current_.batch);
  return view;
}

StepRow RankFolder::end_step(const StepView& own, const StepView* straggler,
                             const RankFolder* slowest) {
  StepRow row = book_step(own, straggler);
  if (options_.ranks_elsewhere && straggler == nullptr)
    row.waiting_for_ranks = current_.compute.begin - current_.ready;
  row.clamped = current_clamped_;
  if (!row.warmup && !window_open_) {
    window_open_ = true;
    record_.warmup_steps = record_.rows.size();
    record_.window_begin = row.idle_begin;
    reservoir_.restart();
    batches_.restart();
    told_apart_ = 0;
    path_.open_window();
  }
  path_.compute(current_, slowest != nullptr ? &slowest->path_to_ready() : nullptr);
  last_end_ = record_.window_end = row.compute_end;

  count_stages();
  keep_exemplar(row);
  for (const auto& part : parts_) drop_old_spans(part.key().second);
  give_back_parts();
  record_.rows.push_back(row);  // at the end: where it throws, the step is folded all the same
  return row;
}

void RankFolder::count_stages() {
  PerStage<StageStats>& stages = window_open_ ? record_.stages : warmup_stages_;
  const std::int64_t samples_before = reservoir_.seen();
  for (const auto& part : parts_) {
    count_spans(part.mapped(), stages);
    offer_samples(part.key().second, part.mapped());
  }
  if (reservoir_.seen() > samples_before) {
    ++told_apart_;
  } else {
    offer_batch();
  }
  count_events(stages);
  (window_open_ ? record_.samples : warmup_samples_) += current_.samples;
  add_checked(window_open_ ? record_.read_bytes : warmup_read_, current_.read_bytes);
  add_checked(window_open_ ? record_.delivered_bytes : warmup_delivered_, current_.delivered_bytes);
  (window_open_ ? record_.work : warmup_work_) += current_.work;
}

// What a stage did for one sample, in however many pieces, is one execution of it.
void RankFolder::count_spans(const Part& part, PerStage<StageStats>& stages) {
  for (auto at = part.begin(); at != part.end();) {
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

void RankFolder::offer_samples(std::int32_t worker, const Part& part) {
  for (auto at = part.begin(); at != part.end();) {
    const auto end =
        std::find_if(at, part.end(), [&](const Span& span) { return span.sample != at->sample; });
    if (at->sample >= 0 && reservoir_.wants_next()) {
      SampleRow row;
      row.sample = at->sample;
      row.batch = current_.batch;
      row.worker = worker;
      row.epoch = current_.epoch;
      for (auto span = at; span != end; ++span) {
        row.bytes = std::max(row.bytes, span->bytes);
        add_time(row, *span);
      }
      reservoir_.keep(row);
    }
    at = end;
  }
}

// Of a batch in which no sample was told apart.
void RankFolder::offer_batch() {
  SampleRow row;
  row.sample = -std::max<std::int64_t>(current_.samples, 1);
  row.batch = current_.batch;
  row.worker = current_.worker;
  row.epoch = current_.epoch;
  bool is_seen = false;
  for (const auto& part : parts_) {
    for (const Span& span : part.mapped()) {
      if (!add_time(row, span)) continue;
      is_seen = true;
      if (span.stage == Stage::read) add_checked(row.bytes, span.bytes);
    }
  }
  if (is_seen && batches_.wants_next()) batches_.keep(row);
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
  if (current_.augmented > 0)
    stages[Stage::gpu_augment].add(current_.augmented, 0, 0, current_.delivered_bytes);
}

Exemplar RankFolder::make_exemplar(const StepRow& row) const {
  Exemplar exemplar;
  exemplar.events = current_;
  exemplar.row = row;
  std::size_t spans = 0;
  for (const auto& part : parts_) spans += part.mapped().size();
  exemplar.spans.reserve(spans);
  for (const auto& part : parts_) {
    for (const Span& span : part.mapped()) exemplar.spans.emplace_back(part.key().second, span);
  }
  return exemplar;
}

void RankFolder::keep_exemplar(const StepRow& row) {
  const bool first = row.step < options_.first_exemplars;
  const bool worst =
      !first && !row.warmup && options_.worst_exemplars > 0 && row.idle() > 0 &&
      (std::ssize(worst_) < options_.worst_exemplars || row.idle() > worst_.front().row.idle());
  if (!first && !worst) return;

  Exemplar exemplar = make_exemplar(row);
  if (worst && std::ssize(worst_) == options_.worst_exemplars) {
    std::pop_heap(worst_.begin(), worst_.end(), stalls_more);
    exemplar_bytes_ -= memory_of(worst_.back());
    worst_.pop_back();
  }
  // The first steps may fill half of the memory; the worst always find room in the other half.
  const Bytes limit = first ? options_.exemplar_memory / 2 : options_.exemplar_memory;
  if (exemplar_bytes_ + memory_of(exemplar) > limit) {
    exemplar.spans.clear();
    exemplar.spans.shrink_to_fit();
  }
  if (exemplar_bytes_ + memory_of(exemplar) > limit) return;
  exemplar_bytes_ += memory_of(exemplar);
  if (first) {
    record_.exemplars.push_back(std::move(exemplar));
    return;
  }
  exemplar.worst = true;
  worst_.push_back(std::move(exemplar));
  std::push_heap(worst_.begin(), worst_.end(), stalls_more);
}

// A span that ended before the last compute did: no later step can wait for it.
void RankFolder::drop_old_spans(std::int32_t index) {
  SpanQueue& timeline = worker(index).timeline;
  while (!timeline.empty() && timeline.front().end <= last_end_) {
    if (timeline.front().batch < 0) count_unbatched(timeline.front());
    timeline.drop_front();
  }
}

// Start-up and rest belong to no batch; they count for the window in which they ended.
void RankFolder::count_unbatched(const Span& span) {
  const bool measured = window_open_ && span.end > record_.window_begin;
  PerStage<StageStats>& stages = measured ? record_.stages : warmup_stages_;
  stages[span.stage].add(span.end - span.begin, span.cpu, span.queued, 0);
}

RankRecord RankFolder::finish() {
  for (const Worker& worker : workers_) {
    for (const Span& span : worker.timeline.timeline()) {
      if (span.batch < 0 && span.end <= last_end_) count_unbatched(span);
    }
  }
  if (!window_open_) {
    // The input ended inside the warm-up: the whole run is the window.
    for (std::size_t i = 0; i < kStages; ++i)
      record_.stages[static_cast<Stage>(i)].merge(warmup_stages_[static_cast<Stage>(i)]);
    record_.samples = warmup_samples_;
    record_.read_bytes = warmup_read_;
    record_.delivered_bytes = warmup_delivered_;
    record_.work = warmup_work_;
    record_.warmup_steps = 0;
  }
  // Workers that came up in the warm-up only: what a start takes is known all the same.
  for (const Stage stage : {Stage::startup, Stage::startup_parent})
    if (record_.stages[stage].count == 0) record_.stages[stage] = warmup_stages_[stage];
  record_.critical_path = path_.of_window();
  for (Exemplar& exemplar : worst_) record_.exemplars.push_back(std::move(exemplar));
  std::sort(record_.exemplars.begin(), record_.exemplars.end(),
            [](const Exemplar& a, const Exemplar& b) { return a.row.step < b.row.step; });
  // A loader may tell the samples of some batches apart, as of each worker's first.
  SampleReservoir& drawn = told_apart_ >= batches_.seen() ? reservoir_ : batches_;
  record_.reservoir_seen = drawn.seen();
  record_.reservoir = drawn.take();
  return std::move(record_);
}

std::int64_t RankFolder::spans_held() const {
  std::int64_t held = 0;
  for (const Worker& worker : workers_) held += worker.timeline.held();
  for (const auto& [key, part] : in_flight_) held += std::ssize(part);
  return held;
}

}  // namespace loaderscope
