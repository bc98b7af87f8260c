#include "engine/native/loader.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>

#include "engine/native/receiving.h"
#include "engine/native/worker.h"
#include "record/interval_meter.h"

namespace loaderscope::native {
namespace {

// A pin thread that slept when the batch came waits from then on for a core, not for its turn.
Nanos sent_at(const Batch& batch) {
  return batch.events.send.ran() ? batch.events.send.end : batch.events.finished;
}

}  // namespace

Loader::Loader(Job& job, RankShare& share, WorkerGroup& group, Device& device)
    : job_(job),
      plan_(job.plan),
      share_(share),
      group_(group),
      outstanding_(static_cast<std::size_t>(plan_.workers)),
      ended_(static_cast<std::size_t>(plan_.workers)) {
  share_.format_depths();
  allocate(device);
  if (plan_.on_device.makes()) device_work_ = std::make_unique<DeviceThread>(job, share, device);
  try {
    if (plan_.pin_thread) pin_thread_ = job_.start([this] { pin(); });
    if (device_work_) device_thread_ = job_.start([this] { device_work_->run(); });
  } catch (...) {
    stop_workers();
    join_threads();
    throw;
  }
}

Loader::~Loader() {
  stop_workers();
  join();
}

void Loader::join() {
  group_.join(share_.rank);
  join_threads();
}

void Loader::join_threads() {
  if (pin_thread_.joinable()) pin_thread_.join();
  if (device_thread_.joinable()) device_thread_.join();
}

void Loader::allocate(Device& device) {
  // Memory is placed where it is first touched, or locked.
  std::optional<OnCpus> near;
  if (!job_.binding.empty()) near.emplace(job_.binding[static_cast<std::size_t>(share_.rank)].all);
  const std::size_t count = share_.batches.size();
  const Bytes bytes = job_.writes_samples ? plan_.layout.slot_bytes : 0;
  if (plan_.layout.is_mixed()) device.prepare(plan_.make_plan);
  if (!plan_.make_plan.resident.is_empty()) {
    const Nanos begin = monotonic_now();
    device.keep(plan_.make_plan.resident);
    keeping_ = monotonic_now() - begin;
  }
  std::byte* shared = share_.shared_slots;
  if (shared != nullptr && !plan_.pin_thread) {
    locked_ = device.wrap_slots(plan_.config.loader.memory, shared, count, bytes);
  } else {
    locked_ = device.make_slots(plan_.config.loader.memory, count, bytes);
  }
  if (plan_.pin_thread) {
    const MemoryRow& ordinary = memory_row(MemoryMode::pageable);
    written_ = shared != nullptr ? ordinary.wrap_existing(shared, count, bytes)
                                 : ordinary.make(count, bytes);
  }
  for (std::size_t i = 0; i < count; ++i) {
    Batch& batch = *share_.batches[i];
    if (bytes > 0) {
      batch.copied_from = locked_->slot(i);
      batch.written = written_ ? written_->slot(i) : batch.copied_from;
      if (job_.fill_slot) job_.fill_slot(batch.written);
    }
    free_.push_back(&batch);
  }
}

Bytes Loader::locked_bytes() const { return locked_->locked_bytes(); }
std::string Loader::memory_fallback() const { return locked_->fallback_reason(); }

void Loader::begin_epoch(std::int64_t epoch, bool start_workers) {
  epoch_ = epoch;
  dispatched_of_epoch_ = 0;
  next_worker_ = 0;
  std::fill(ended_.begin(), ended_.end(), false);
  if (start_workers && !plan_.made_by_trainer) {
    // The workers of the last epoch have nothing left to do.
    share_.close();
    group_.join(share_.rank);
    share_.open();
    for (std::int32_t index = 0; index < plan_.workers; ++index) start_worker(index);
  }
  epoch_dispatch_ = monotonic_now();
  for (std::int64_t i = 0; i < plan_.prefetch_depth; ++i) dispatch_one();
}

void Loader::start_worker(std::int32_t index) {
  outstanding_[static_cast<std::size_t>(index)] = 0;
  Start start{plan_.worker_start(share_.rank, index, epoch_), {}};
  const Nanos begin = monotonic_now();
  if (plan_.startup_parent.active() && !plan_.server_forks) {
    Sleeper sleeper(job_.stop);
    spend(plan_.startup_parent, start.execution, sleeper);
    start.parent_time = {begin, monotonic_now(), 0, 0};
  } else if (crosses_processes()) {
    start.parent_time = {begin, begin, 0, 0};
  }
  group_.start(share_.rank, start);
}

// PyTorch's rule: the next worker of the round; where the order does not matter, the next with
// fewer than prefetch-factor batches dispatched to it. None whose stream has ended, while there is
// another.
std::int32_t Loader::choose_worker() {
  for (std::int32_t tried = 0; tried < plan_.workers; ++tried) {
    const std::int32_t chosen = next_worker_;
    next_worker_ = next_worker_ + 1 == plan_.workers ? 0 : next_worker_ + 1;
    if (ended_[static_cast<std::size_t>(chosen)]) continue;
    if (plan_.in_order ||
        outstanding_[static_cast<std::size_t>(chosen)] < plan_.config.loader.prefetch_factor) {
      return chosen;
    }
  }
  while (ended_[static_cast<std::size_t>(next_worker_)])
    next_worker_ = next_worker_ + 1 == plan_.workers ? 0 : next_worker_ + 1;
  return next_worker_;
}

void Loader::dispatch_one() {
  if (std::all_of(ended_.begin(), ended_.end(), [](bool ended) { return ended; })) return;
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
  for (std::int64_t i = 0; i < samples && !plan_.streamed; ++i) {
    batch->samples.push_back(plan_.sample_at(
        share_.rank, epoch_, batch->batch_of_epoch * plan_.config.loader.batch_size + i));
  }
  batch->next_sample = 0;
  batch->samples_left.store(samples, std::memory_order_relaxed);
  batch->read_bytes.store(0, std::memory_order_relaxed);
  batch->forget_work();
  batch->room.clear(samples);
  batch->events = StepEvents{};
  StepEvents& events = batch->events;
  events.batch = dispatched_++;
  events.epoch = static_cast<std::int32_t>(epoch_);
  events.epoch_dispatch = epoch_dispatch_;
  events.dispatched = monotonic_now();
  events.made_by_trainer = plan_.made_by_trainer;
  events.samples = static_cast<std::int32_t>(samples);
  events.delivered_bytes = plan_.delivered_bytes(samples);

  ++in_flight_;
  batch->dispatches.fetch_add(1, std::memory_order_release);
  if (plan_.made_by_trainer) {
    inline_task_ = batch;
  } else if (plan_.sample_tasks) {
    share_.sample_tasks->push(batch);
  } else {
    const std::int32_t chosen = choose_worker();
    ++outstanding_[static_cast<std::size_t>(chosen)];
    share_.queues(chosen).tasks.push(batch);
  }
}

Batch* Loader::receive() {
  if (plan_.made_by_trainer) {
    if (!inline_worker_) inline_worker_ = std::make_unique<Worker>(job_, share_, 0);
    inline_worker_->make_now(*inline_task_);
  }
  const auto popped = share_.ready->pop();
  if (!popped) return nullptr;
  if (crosses_processes() && !plan_.has_receiver())
    note_arrival(*popped, popped->item->events.deliverable);
  return popped->item;
}

void Loader::received(const Batch& batch) {
  --in_flight_;
  if (!plan_.sample_tasks) --outstanding_[static_cast<std::size_t>(batch.events.worker)];
}

void Loader::on_empty_batch(Batch& batch) {
  ended_[static_cast<std::size_t>(batch.events.worker)] = true;
  release(batch);
  if (!plan_.made_by_trainer) dispatch_one();
}

void Loader::release(Batch& batch) {
  const std::lock_guard lock(free_mutex_);
  free_.push_back(&batch);
}

void Loader::wake_trainer() { share_.ready->close(); }

void Loader::stop_workers() {
  share_.close();
  share_.to_pin->close();
  if (share_.to_device) share_.to_device->close();
}

void Loader::free_device_slot() {
  if (device_work_) device_work_->free_slot();
}

std::vector<QueueStats> Loader::read_stats() {
  std::vector<QueueStats> queues = {share_.ready->read_stats("ready")};
  if (plan_.pin_thread) queues.push_back(share_.to_pin->read_stats("pin"));
  if (share_.to_device) queues.push_back(share_.to_device->read_stats("device"));
  return queues;
}

void Loader::pin() {
  job_.bind_worker(share_.rank, -1);
  share_.name_thread("pin");
  use_exact_sleeps();
  Sleeper sleeper(job_.stop);
  RunQueueMeter run_queue;
  demand_run_queue(run_queue);
  while (const auto task = share_.to_pin->pop()) {
    Batch& batch = *task->item;
    static_cast<void>(batch.dispatches.load(std::memory_order_acquire));
    const nvtx::Payload shown = {batch.events.batch, -1, batch.events.delivered_bytes};
    receive_batch(share_, *task, sleeper, run_queue);
    const bool begins_late = task->waited && !batch.events.receive.ran();
    const nvtx::Range range(Stage::pin, shown);
    IntervalMeter meter(run_queue, begins_late ? sent_at(batch) : kNever);
    if (plan_.pin.active()) spend(plan_.pin, share_.execution(-1, batch), sleeper);
    if (batch.written != nullptr) {
      std::memcpy(batch.copied_from, batch.written,
                  static_cast<std::size_t>(batch.filled(plan_.layout)));
    }
    batch.events.pin = meter.end(plan_.pin.sleeps());
    share_.arrive(batch, share_.pin_log);
  }
}

}  // namespace loaderscope::native
