#include "engine/native/loader.h"

#include <algorithm>
#include <cstring>
#include <exception>
#include <string>
#include <system_error>
#include <utility>

#include "loaderscope/errors.h"

namespace loaderscope::native {
namespace {

// A worker that only waited for the trainer's hand to reach it has not rested with the window full.
// Below this part of the time that it takes for a batch, a rest counts as none.
constexpr Nanos kHandOverShare = 100;

trace::Payload shown(const Batch& batch) {
  return {batch.events.batch, -1, batch.events.delivered_bytes};
}

// A pin thread that slept when the batch came waits from then on for a core, not for its turn.
Nanos sent_at(const Batch& batch) {
  return batch.events.send.ran() ? batch.events.send.end : batch.events.finished;
}

}  // namespace

void Job::fail(std::exception_ptr failure) {
  const std::lock_guard lock(mutex_);
  if (!error_) error_ = std::move(failure);
  stop.store(1);
}

std::thread Job::start(std::function<void()> body) {
  alive_.fetch_add(1, std::memory_order_relaxed);
  try {
    return std::thread([this, body = std::move(body)] {
      try {
        body();
      } catch (...) {
        fail(std::current_exception());
      }
      alive_.fetch_sub(1, std::memory_order_release);
    });
  } catch (const std::system_error& error) {
    alive_.fetch_sub(1, std::memory_order_relaxed);
    throw RunError("a thread of the loader cannot be started (" + error.code().message() +
                   "); use fewer --workers or --ranks, or raise the limit with ulimit -u");
  }
}

void Job::rethrow() {
  const std::lock_guard lock(mutex_);
  if (error_) std::rethrow_exception(error_);
}

void Job::put_step(std::int32_t rank, const StepEvents& events) {
  const std::lock_guard lock(mutex_);
  steps_.emplace_back(rank, events);
}

const std::vector<std::pair<std::int32_t, StepEvents>>& Job::take_steps() {
  taken_.clear();
  const std::lock_guard lock(mutex_);
  taken_.swap(steps_);
  return taken_;
}

Loader::Loader(Job& job, std::int32_t rank, Device& device)
    : job_(job),
      plan_(job.plan),
      rank_(rank),
      to_pin_(static_cast<std::size_t>(plan_.slots()),
              plan_.pin_thread ? trace::Counter(of_rank("queue to pin")) : trace::Counter()),
      ready_(static_cast<std::size_t>(plan_.slots()), trace::Counter(of_rank("queue ready"))) {
  allocate(device);
  const auto window = static_cast<std::size_t>(plan_.window + 1);
  if (plan_.sample_tasks) sample_tasks_ = std::make_unique<SampleQueue>(window);
  for (std::int32_t index = 0; index < plan_.workers; ++index) {
    auto worker = std::make_unique<Worker>();
    worker->log = add_log(index);
    if (plan_.send.active() && !plan_.made_by_trainer) worker->feeder_log = add_log(index);
    workers_.push_back(std::move(worker));
  }
  if (plan_.pin_thread) {
    pin_log_ = add_log(0);
    pin_thread_ = job_.start([this] { pin(); });
  }
}

Loader::~Loader() {
  let_workers_end();
  join_workers();
}

std::string Loader::of_rank(const std::string& text) const {
  return plan_.ranks == 1 ? text : text + " rank " + std::to_string(rank_);
}

void Loader::name_thread(const std::string& role) const {
  trace::name_thread(role, plan_.ranks == 1 ? -1 : rank_);
}

ThreadLog* Loader::add_log(std::int32_t worker) {
  return job_.recorder ? &job_.recorder->add_thread(rank_, worker) : nullptr;
}

void Loader::allocate(Device& device) {
  const auto count = static_cast<std::size_t>(plan_.slots());
  const Bytes bytes = job_.writes_samples ? plan_.delivered_bytes(plan_.config.batch_size) : 0;
  locked_ = device.make_slots(plan_.config.memory, count, bytes);
  if (plan_.pin_thread) pageable_ = memory_row(MemoryMode::pageable).make(count, bytes);
  for (std::size_t i = 0; i < count; ++i) {
    auto batch = std::make_unique<Batch>();
    batch->samples.reserve(static_cast<std::size_t>(plan_.config.batch_size.value));
    if (bytes > 0) {
      batch->copied_from = locked_->slot(i);
      batch->written = pageable_ ? pageable_->slot(i) : batch->copied_from;
      if (job_.fill_slot) job_.fill_slot(batch->written);
    }
    free_.push_back(batch.get());
    batches_.push_back(std::move(batch));
  }
}

Bytes Loader::locked_bytes() const { return locked_->locked_bytes(); }
std::string Loader::memory_fallback() const { return locked_->fallback(); }

Execution Loader::execution(std::int32_t worker, const Batch& batch) const {
  return plan_.execution(rank_, worker, batch.events, batch.batch_of_epoch);
}

// Of a worker's start in this epoch.
Execution Loader::start_of(std::int32_t worker) const {
  Execution execution;
  execution.rank = rank_;
  execution.worker = worker;
  execution.epoch = epoch_;
  execution.draw = static_cast<std::int64_t>(worker) * plan_.ranks + rank_;
  execution.count = epoch_;
  return execution;
}

// Of the trainer's thread.

void Loader::begin_epoch(std::int64_t epoch, bool start_workers) {
  epoch_ = epoch;
  dispatched_of_epoch_ = 0;
  next_worker_ = 0;
  server_free_ = monotonic_now();
  if (start_workers && !plan_.made_by_trainer) {
    end_last_epochs_workers();
    for (std::int32_t index = 0; index < plan_.workers; ++index) start_worker(index);
  }
  epoch_dispatch_ = monotonic_now();
  for (std::int64_t i = 0; i < plan_.window; ++i) dispatch_one();
}

// They have nothing left to do. Queues are made again only when nobody looks at them any more.
void Loader::end_last_epochs_workers() {
  close_queues();
  for (auto& worker : workers_) {
    if (worker->thread.joinable()) worker->thread.join();
    if (worker->feeder.joinable()) worker->feeder.join();
  }
  if (plan_.sample_tasks)
    sample_tasks_ = std::make_unique<SampleQueue>(static_cast<std::size_t>(plan_.window + 1));
}

void Loader::start_worker(std::int32_t index) {
  Worker& worker = *workers_[static_cast<std::size_t>(index)];
  const auto window = static_cast<std::size_t>(plan_.window + 1);
  if (!plan_.sample_tasks) worker.tasks = std::make_unique<BlockingQueue<Batch*>>(window);
  worker.outstanding = 0;

  const Execution starting = start_of(index);
  if (plan_.startup_parent.active()) {
    Sleeper sleeper(job_.stop);
    spend(plan_.startup_parent, starting, sleeper);
  }
  if (plan_.send.active() && !plan_.made_by_trainer) {
    worker.to_send = std::make_unique<BlockingQueue<Batch*>>(window);
    worker.feeder = job_.start([this, index] { feed(index); });
  }
  worker.thread = job_.start([this, starting] { work(starting); });
}

// PyTorch's rule: the next worker of the round; where the order does not matter, the next with
// fewer than prefetch-factor batches dispatched to it.
std::int32_t Loader::choose_worker() {
  for (std::int32_t tried = 0; tried < plan_.workers; ++tried) {
    const std::int32_t chosen = next_worker_;
    next_worker_ = next_worker_ + 1 == plan_.workers ? 0 : next_worker_ + 1;
    if (plan_.in_order ||
        workers_[static_cast<std::size_t>(chosen)]->outstanding < plan_.config.prefetch_factor) {
      return chosen;
    }
  }
  return next_worker_;
}

void Loader::dispatch_one() {
  if (plan_.batches_per_epoch > 0 && dispatched_of_epoch_ == plan_.batches_per_epoch) return;
  if (plan_.made_by_trainer && dispatched_of_epoch_ == 0) epoch_dispatch_ = monotonic_now();
  Batch* batch = nullptr;
  {
    const std::lock_guard lock(free_mutex_);
    batch = free_.back();
    free_.pop_back();
  }
  batch->batch_of_epoch = dispatched_of_epoch_++;
  const std::int64_t samples = plan_.samples_in_batch(batch->batch_of_epoch);
  batch->samples.clear();
  for (std::int64_t i = 0; i < samples; ++i) {
    batch->samples.push_back(
        plan_.sample_at(rank_, epoch_, batch->batch_of_epoch * plan_.config.batch_size + i));
  }
  batch->next_sample = 0;
  batch->samples_left.store(samples, std::memory_order_relaxed);
  batch->read_bytes.store(0, std::memory_order_relaxed);
  batch->events = StepEvents{};
  StepEvents& events = batch->events;
  events.batch = dispatched_++;
  events.epoch = static_cast<std::int32_t>(epoch_);
  events.epoch_dispatch = epoch_dispatch_;
  events.dispatched = monotonic_now();
  events.made_by_trainer = plan_.made_by_trainer;
  events.samples = static_cast<std::int32_t>(samples);
  events.delivered_bytes = plan_.delivered_bytes(samples);

  if (plan_.made_by_trainer) {
    inline_task_ = batch;
  } else if (plan_.sample_tasks) {
    sample_tasks_->push(batch);
  } else {
    Worker& worker = *workers_[static_cast<std::size_t>(choose_worker())];
    ++worker.outstanding;
    worker.tasks->push(batch);
  }
}

Batch* Loader::receive() {
  if (plan_.made_by_trainer) {
    if (!inline_hands_) {
      inline_hands_.reset(new Hands{0, SpanWriter(workers_[0]->log), job_.make_maker(job_.stop),
                                    Sleeper(job_.stop), -1, 0, 0});
    }
    inline_hands_->spans.pause();
    turn_to(*inline_hands_, *inline_task_, 0, false);
    make_batch(*inline_hands_, *inline_task_);
  }
  const auto popped = ready_.pop();
  return popped ? popped->item : nullptr;
}

void Loader::received(const Batch& batch) {
  if (!plan_.sample_tasks) --workers_[static_cast<std::size_t>(batch.events.worker)]->outstanding;
}

void Loader::release(Batch& batch) {
  const std::lock_guard lock(free_mutex_);
  free_.push_back(&batch);
}

void Loader::wake_trainer() { ready_.close(); }

void Loader::close_queues() {
  if (sample_tasks_) sample_tasks_->close();
  for (auto& worker : workers_) {
    if (worker->tasks) worker->tasks->close();
    if (worker->to_send) worker->to_send->close();
  }
}

void Loader::let_workers_end() {
  close_queues();
  to_pin_.close();
}

void Loader::join_workers() {
  for (auto& worker : workers_) {
    if (worker->thread.joinable()) worker->thread.join();
    if (worker->feeder.joinable()) worker->feeder.join();
  }
  if (pin_thread_.joinable()) pin_thread_.join();
}

std::vector<QueueStats> Loader::read_stats() {
  std::vector<QueueStats> queues = {ready_.read_stats("ready")};
  if (plan_.pin_thread) queues.push_back(to_pin_.read_stats("pin"));
  return queues;
}

std::string Loader::describe_workers() const {
  std::string text;
  for (std::size_t i = 0; i < workers_.size(); ++i) {
    const std::int64_t sample = workers_[i]->at_sample.load(std::memory_order_relaxed);
    if (sample < 0) continue;
    text += (text.empty() ? "worker " : ", worker ") + std::to_string(i) + " is at sample " +
            std::to_string(sample);
  }
  return text.empty() ? "no worker has a sample in hand" : text;
}

// Of the workers' threads.

void Loader::work(const Execution& starting) {
  const std::int32_t index = starting.worker;
  name_thread("worker " + std::to_string(index));
  use_exact_sleeps();
  Worker& worker = *workers_[static_cast<std::size_t>(index)];
  Hands hands{index, SpanWriter(worker.log), nullptr, Sleeper(job_.stop), -1, 0, 0};
  come_up(hands, starting);
  if (plan_.sample_tasks) {
    work_on_samples(hands);
  } else {
    work_on_batches(hands);
  }
}

void Loader::come_up(Hands& hands, const Execution& starting) {
  const trace::Range range(Stage::startup, {});
  const Nanos begin = monotonic_now();
  hands.maker = job_.make_maker(job_.stop);
  if (plan_.startup.active()) spend(plan_.startup, starting, hands.sleeper);
  hands.spans.start_up(begin, monotonic_now());
}

void Loader::work_on_batches(Hands& hands) {
  BlockingQueue<Batch*>& tasks = *workers_[static_cast<std::size_t>(hands.index)]->tasks;
  for (;;) {
    const Nanos rest_begin = monotonic_now();
    const auto task = tasks.pop();
    if (!task) return;
    turn_to(hands, *task->item, rest_begin, task->waited);
    make_batch(hands, *task->item);
  }
}

void Loader::work_on_samples(Hands& hands) {
  for (;;) {
    const Nanos rest_begin = monotonic_now();
    const auto task = sample_tasks_->pop();
    if (!task) return;
    turn_to(hands, *task->batch, rest_begin, task->waited);
    make_sample(hands, *task->batch, task->position);
    if (task->batch->samples_left.fetch_sub(1, std::memory_order_acq_rel) == 1)
      finish(hands, *task->batch);
  }
}

// The worker begins with `batch`, or goes on with it, after a rest or not.
void Loader::turn_to(Hands& hands, Batch& batch, Nanos rest_begin, bool rested) {
  const Nanos now = monotonic_now();
  const Nanos rest_end = std::clamp(batch.events.dispatched, std::min(rest_begin, now), now);
  if (rested) hands.spans.rest(rest_begin, rest_end);
  if (hands.batch_index != batch.events.batch) {
    hands.batch_index = batch.events.batch;
    hands.begun = hands.spans.edge() > 0 ? hands.spans.edge() : now;
    hands.rested = 0;
    hands.spans.begin_batch(batch.events.batch);
  }
  if (rested)
    hands.rested +=
        std::max<Nanos>(rest_end - std::max(rest_begin, batch.events.epoch_dispatch), 0);
}

void Loader::make_batch(Hands& hands, Batch& batch) {
  hands.maker->expect(batch.samples);
  for (std::int64_t position = 0; position < batch.events.samples; ++position) {
    if (job_.stop.load(std::memory_order_relaxed) != 0) return;
    make_sample(hands, batch, position);
  }
  finish(hands, batch);
}

void Loader::make_sample(Hands& hands, Batch& batch, std::int64_t position) {
  const std::int64_t sample = batch.samples[static_cast<std::size_t>(position)];
  std::atomic<std::int64_t>& at_sample = workers_[static_cast<std::size_t>(hands.index)]->at_sample;
  at_sample.store(sample, std::memory_order_relaxed);
  SampleTask task;
  task.execution = execution(hands.index, batch);
  task.execution.draw = sample;
  task.execution.count = batch.batch_of_epoch * plan_.config.batch_size + position;
  task.place = batch.written ? batch.written + position * plan_.delivered_sample_bytes : nullptr;
  hands.spans.begin_sample(sample);
  const Bytes read = hands.maker->make(task, hands.spans);
  hands.spans.end_sample();
  batch.read_bytes.fetch_add(read, std::memory_order_relaxed);
  at_sample.store(-1, std::memory_order_relaxed);
}

void Loader::finish(Hands& hands, Batch& batch) {
  if (plan_.collate.active()) {
    StageScope scope(hands.spans, Stage::collate,
                     plan_.collate.uses_cpu() ? StageScope::Kind::runs : StageScope::Kind::waits,
                     batch.events.delivered_bytes);
    spend(plan_.collate, execution(hands.index, batch), hands.sleeper);
  }
  hands.spans.end_sample();
  StepEvents& events = batch.events;
  events.worker = hands.index;
  events.begun = hands.begun;
  events.finished = hands.spans.edge() > 0 ? hands.spans.edge() : monotonic_now();
  events.worker_idle =
      hands.rested * kHandOverShare < events.finished - hands.begun ? 0 : hands.rested;
  events.read_bytes = batch.read_bytes.load(std::memory_order_relaxed);
  Worker& worker = *workers_[static_cast<std::size_t>(hands.index)];
  if (worker.to_send) {
    worker.to_send->push(&batch);
  } else {
    sent(batch, worker.log);
  }
}

// From the worker to the trainer.

void Loader::feed(std::int32_t index) {
  name_thread("feeder " + std::to_string(index));
  use_exact_sleeps();
  Worker& worker = *workers_[static_cast<std::size_t>(index)];
  Sleeper sleeper(job_.stop);
  while (const auto task = worker.to_send->pop()) {
    Batch& batch = *task->item;
    const trace::Range range(Stage::transport, shown(batch));
    const Nanos begin = monotonic_now(), cpu = thread_cpu_now();
    spend(plan_.send, execution(index, batch), sleeper);
    batch.events.send = {begin, monotonic_now(), thread_cpu_now() - cpu, 0};
    sent(batch, worker.feeder_log);
  }
}

void Loader::sent(Batch& batch, ThreadLog* log) {
  if (plan_.pin_thread) {
    to_pin_.push(&batch);
  } else {
    deliver(batch, log);
  }
}

void Loader::pin() {
  name_thread("pin");
  use_exact_sleeps();
  Sleeper sleeper(job_.stop);
  RunQueueMeter run_queue;
  while (const auto task = to_pin_.pop()) {
    Batch& batch = *task->item;
    if (plan_.receive.active() && !plan_.made_by_trainer) {
      const trace::Range range(Stage::transport_recv, shown(batch));
      const Nanos begin = monotonic_now(), cpu = thread_cpu_now();
      spend(plan_.receive, execution(-1, batch), sleeper);
      batch.events.receive = {begin, monotonic_now(), thread_cpu_now() - cpu, 0};
    }
    const trace::Range range(Stage::pin, shown(batch));
    if (batch.events.receive.ran()) run_queue.read();
    const Nanos start = monotonic_now(), cpu = thread_cpu_now();
    const Nanos begin = task->waited && !batch.events.receive.ran() ? sent_at(batch) : start;
    if (plan_.pin.active()) spend(plan_.pin, execution(-1, batch), sleeper);
    if (batch.written != nullptr) {
      std::memcpy(batch.copied_from, batch.written,
                  static_cast<std::size_t>(batch.events.delivered_bytes));
    }
    const Nanos end = monotonic_now();
    const Nanos used = std::clamp<Nanos>(thread_cpu_now() - cpu, 0, end - begin);
    const bool sleeps = plan_.pin.active() && !plan_.pin.uses_cpu();
    const Nanos may_queue = sleeps ? start - begin : end - begin - used;
    const Nanos queued = std::clamp<Nanos>(run_queue.read(), 0, std::max<Nanos>(may_queue, 0));
    batch.events.pin = {begin, end, used, queued};
    deliver(batch, pin_log_);
  }
}

void Loader::deliver(Batch& batch, ThreadLog* log) {
  batch.events.deliverable = monotonic_now();
  if (log != nullptr) log->deliverable(batch.events.batch, batch.events.deliverable);
  ready_.push(&batch);
}

}  // namespace loaderscope::native
