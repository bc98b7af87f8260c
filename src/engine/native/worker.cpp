#include "engine/native/worker.h"

#include <algorithm>
#include <string>
#include <system_error>

#include "base/failure_text.h"
#include "loaderscope/errors.h"
#include "record/interval_meter.h"

namespace loaderscope::native {
namespace {

// A worker that only waited for the trainer's hand to reach it has not rested with the window full.
// Below this part of the time that it takes for a batch, a rest counts as none.
constexpr Nanos kHandOverShare = 100;

}  // namespace

Worker::Worker(const Job& job, RankShare& share, std::int32_t index)
    : job_(job),
      plan_(job.plan),
      share_(share),
      index_(index),
      queues_(share.queues(index)),
      spans_(queues_.log),
      sleeper_(job.stop) {
  demand_run_queue(spans_.run_queue());
}

void demand_run_queue(const RunQueueMeter& meter) {
  const std::string remedy = exhaustion_hint(meter.why_not());
  if (remedy.empty()) return;
  throw RunError("a thread: " + std::generic_category().message(meter.why_not()) +
                     " for /proc/thread-self/schedstat, without which contention would count as "
                     "something else",
                 remedy);
}

void Worker::run(const Start& start) {
  share_.name_thread("worker " + std::to_string(index_));
  use_exact_sleeps();
  start_up(start);
  if (plan_.sample_tasks) {
    work_on_samples();
  } else {
    work_on_batches();
  }
}

void Worker::start_up(const Start& start) {
  const nvtx::Range range(Stage::startup, {});
  const Nanos begin = monotonic_now();
  if (start.parent_time.ran()) spans_.started_by_parent(start.parent_time);
  maker_ = job_.make_maker(job_.stop);
  if (plan_.startup.active()) spend(plan_.startup, start.execution, sleeper_);
  spans_.start_up(begin, monotonic_now());
}

void Worker::make_now(Batch& batch) {
  if (!maker_) maker_ = job_.make_maker(job_.stop);
  spans_.skip();
  turn_to(batch, 0, false);
  make_batch(batch);
}

void Worker::work_on_batches() {
  for (;;) {
    const Nanos rest_begin = monotonic_now();
    const auto task = queues_.tasks.pop();
    if (!task) return;
    turn_to(*task->item, rest_begin, task->waited);
    make_batch(*task->item);
  }
}

void Worker::work_on_samples() {
  for (;;) {
    const Nanos rest_begin = monotonic_now();
    if (!claim() || job_.stop.load(std::memory_order_relaxed) != 0) return;
    const SampleQueue::Task task = claimed_.front();
    claimed_.pop_front();
    turn_to(*task.batch, rest_begin, task.waited);
    make_sample(*task.batch, task.position);
    if (task.batch->samples_left.fetch_sub(1, std::memory_order_acq_rel) == 1) finish(*task.batch);
  }
}

// A sample to make, and those that are read ahead meanwhile: no more than the worker's share of a
// batch, so that none waits for it where others rest. False once the queue is closed.
bool Worker::claim() {
  const std::int64_t share = (plan_.config.loader.batch_size - 1) / plan_.workers + 1;
  const auto most = std::clamp<std::int64_t>(maker_->readahead_limit(), 1, share);
  const std::size_t before = claimed_.size();
  while (std::ssize(claimed_) < most) {
    const auto task =
        claimed_.empty() ? share_.sample_tasks->pop() : share_.sample_tasks->try_pop();
    if (!task) break;
    claimed_.push_back(*task);
  }
  if (maker_->readahead_limit() > 0 && claimed_.size() > before) {
    expected_.clear();
    for (const SampleQueue::Task& task : claimed_)
      expected_.push_back(task.batch->samples[static_cast<std::size_t>(task.position)]);
    maker_->expect(expected_);
  }
  return !claimed_.empty();
}

// The worker begins or continues `batch`, after a rest or not.
void Worker::turn_to(Batch& batch, Nanos rest_begin, bool rested) {
  const Nanos now = monotonic_now();
  const Nanos rest_end = std::clamp(batch.events.dispatched, std::min(rest_begin, now), now);
  if (rested) spans_.record_idle(rest_begin, rest_end);
  if (batch_index_ != batch.events.batch) {
    batch_index_ = batch.events.batch;
    begun_ = spans_.last_end() > 0 ? spans_.last_end() : now;
    rested_ = 0;
    spans_.begin_batch(batch.events.batch);
  }
  if (rested)
    rested_ += std::max<Nanos>(rest_end - std::max(rest_begin, batch.events.epoch_dispatch), 0);
}

// The samples of the batch, and the first ones of the next.
void Worker::expect_batches(const Batch& batch) {
  const int most = maker_->readahead_limit();
  if (most == 0) return;
  expected_.assign(batch.samples.begin(), batch.samples.end());
  if (const auto next = queues_.tasks.front()) {
    const auto& samples = (*next)->samples;
    expected_.insert(expected_.end(), samples.begin(),
                     samples.begin() + std::min<std::ptrdiff_t>(most, std::ssize(samples)));
  }
  maker_->expect(expected_);
}

void Worker::make_batch(Batch& batch) {
  if (plan_.streamed) return make_streamed(batch);
  expect_batches(batch);
  for (std::int64_t position = 0; position < batch.events.samples; ++position) {
    if (job_.stop.load(std::memory_order_relaxed) != 0) return;
    make_sample(batch, position);
  }
  finish(batch);
}

// Ends its stream with the rest of its samples. Every later batch comes back empty, which shows the
// trainer that the stream has ended.
void Worker::make_streamed(Batch& batch) {
  if (stream_epoch_ != batch.events.epoch) {
    stream_epoch_ = batch.events.epoch;
    maker_->begin_stream(share_.rank, index_, stream_epoch_);
  }
  std::int32_t made = 0;
  while (made < batch.events.samples && make_sample(batch, made)) ++made;
  if (job_.stop.load(std::memory_order_relaxed) != 0) return;
  const bool is_short = made < batch.events.samples;
  batch.events.samples = is_short && plan_.config.loader.drop_last ? 0 : made;
  batch.events.delivered_bytes = plan_.delivered_bytes(batch.events.samples);
  if (batch.events.samples == 0) return share_.give_back(batch, index_);
  spans_.begin_batch(batch.events.batch);
  finish(batch);
}

// False at the end of the worker's stream.
bool Worker::make_sample(Batch& batch, std::int64_t position) {
  const std::int64_t sample =
      plan_.streamed ? -1 : batch.samples[static_cast<std::size_t>(position)];
  queues_.at_batch.store(batch.events.batch, std::memory_order_relaxed);
  queues_.at_sample.store(sample, std::memory_order_relaxed);
  SampleTask task;
  task.execution = share_.execution(index_, batch);
  task.execution.draw = sample;
  task.execution.count = batch.batch_of_epoch * plan_.config.loader.batch_size + position;
  const bool is_mixed = plan_.layout.is_mixed();
  if (batch.written != nullptr)
    task.place = batch.written + (is_mixed ? 0 : position * plan_.delivered_sample_bytes);
  if (is_mixed) task.room = &batch.room;
  task.position = position;
  spans_.begin_sample(sample);
  const WorkCounts before = thread_counts;
  const std::optional<MadeSample> made = maker_->make(task, spans_);
  batch.add_work(thread_counts - before);
  spans_.end_sample();
  batch.read_bytes.fetch_add(made && !made->is_held ? made->read : 0, std::memory_order_relaxed);
  if (made && plan_.on_device.makes()) {
    task.execution.bytes = made->read;
    DeviceShare work;
    plan_.on_device.add_sample(task.execution, made->is_stored, made->copied, work);
    batch.add_device_work(work);
  }
  queues_.at_sample.store(-1, std::memory_order_relaxed);
  return made.has_value();
}

void Worker::finish(Batch& batch) {
  if (plan_.collate.active()) {
    StageScope scope(spans_, Stage::collate,
                     plan_.collate.uses_cpu() ? StageScope::Kind::runs : StageScope::Kind::waits,
                     batch.events.delivered_bytes);
    spend(plan_.collate, share_.execution(index_, batch), sleeper_);
  }
  spans_.end_sample();
  StepEvents& events = batch.events;
  events.worker = index_;
  events.begun = begun_;
  events.finished = spans_.last_end() > 0 ? spans_.last_end() : monotonic_now();
  events.worker_idle = rested_ * kHandOverShare < events.finished - begun_ ? 0 : rested_;
  events.read_bytes = batch.read_bytes.load(std::memory_order_relaxed);
  events.work = batch.work();
  queues_.at_batch.store(-1, std::memory_order_relaxed);
  if (share_.has_feeders) {
    queues_.to_send.push({&batch, events.finished, events.delivered_bytes});
  } else {
    share_.send(batch, queues_.log);
  }
}

void feed(const Job& job, RankShare& share, std::int32_t index) {
  share.name_thread("feeder " + std::to_string(index));
  use_exact_sleeps();
  WorkerQueues& queues = share.queues(index);
  Sleeper sleeper(job.stop);
  RunQueueMeter run_queue;
  while (const auto task = queues.to_send.pop()) {
    Batch& batch = *task->item.batch;
    const nvtx::Range range(Stage::transport, {batch.events.batch, -1, task->item.bytes});
    IntervalMeter meter(run_queue, task->waited ? task->item.at : kNever);
    if (job.plan.send.active()) spend(job.plan.send, share.execution(index, batch), sleeper);
    batch.events.send = meter.end(job.plan.send.sleeps());
    share.send(batch, queues.feeder_log);
  }
}

}  // namespace loaderscope::native
