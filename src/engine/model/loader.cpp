// Decides which batch, or which samples, each worker makes.
#include "engine/model/loader.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace loaderscope::model {

ModelLoader::ModelLoader(const LoaderPlan& plan, SimulatedMachine& world, Folder& folder,
                         std::int32_t rank, std::function<void(ModelBatch&)> arrived,
                         std::function<void()> all_started)
    : plan_(plan),
      world_(world),
      folder_(folder),
      rank_(rank),
      hand_over_(plan, world, rank, std::move(arrived)),
      all_started_(std::move(all_started)),
      workers_(static_cast<std::size_t>(plan.workers)),
      resting_workers_(static_cast<std::size_t>(plan.workers + 63) / 64) {
  if (const FittedCosts::Requests* requests = plan.storage.requests())
    requests_ = std::vector<RequestQueue>(workers_.size(), RequestQueue(*requests));
}

void ModelLoader::begin_epoch(std::int64_t epoch) {
  epoch_ = epoch;
  dispatched_of_epoch_ = 0;
  next_worker_ = 0;
}

void ModelLoader::fill_window() {
  epoch_dispatch_ = world_.now();
  for (std::int64_t i = 0; i < plan_.prefetch_depth; ++i) dispatch_one();
}

void ModelLoader::dispatch_one() {
  if (plan_.batches_per_epoch > 0 && dispatched_of_epoch_ == plan_.batches_per_epoch) return;
  if (plan_.made_by_trainer && dispatched_of_epoch_ == 0) epoch_dispatch_ = world_.now();
  ModelBatch& batch = next_batch();
  if (plan_.sample_tasks) {
    sample_tasks_.push_back(&batch);
    give_samples();
    return;
  }
  const std::int32_t chosen = choose_worker();
  Worker& worker = worker_at(chosen);
  ++worker.outstanding;
  worker.tasks.push_back(&batch);
  if (plan_.made_by_trainer && worker.doing == WorkerState::nothing)
    worker.doing = WorkerState::resting;
  if (worker.doing == WorkerState::resting) next_task(chosen);
}

ModelBatch& ModelLoader::next_batch() {
  if (free_batches_.empty()) {
    batches_.push_back(std::make_unique<ModelBatch>());
    free_batches_.push_back(batches_.back().get());
  }
  ModelBatch& batch = *free_batches_.back();
  free_batches_.pop_back();
  batch = ModelBatch{};
  batch.batch_of_epoch = dispatched_of_epoch_++;
  batch.samples_left = plan_.samples_in_batch(batch.batch_of_epoch);
  StepEvents& events = batch.events;
  events.batch = dispatched_++;
  events.epoch = static_cast<std::int32_t>(epoch_);
  events.epoch_dispatch = epoch_dispatch_;
  events.dispatched = world_.now();
  events.made_by_trainer = plan_.made_by_trainer;
  events.samples = static_cast<std::int32_t>(batch.samples_left);
  events.delivered_bytes = plan_.delivered_bytes(batch.samples_left);
  return batch;
}

// PyTorch's rule: the next worker of the round; where the order does not matter, the next with
// fewer than prefetch-factor batches dispatched to it.
std::int32_t ModelLoader::choose_worker() {
  for (std::int32_t tried = 0; tried < plan_.workers; ++tried) {
    const std::int32_t chosen = next_worker_;
    next_worker_ = next_worker_ + 1 == plan_.workers ? 0 : next_worker_ + 1;
    if (plan_.in_order || worker_at(chosen).outstanding < plan_.config.loader.prefetch_factor)
      return chosen;
  }
  return next_worker_;
}

void ModelLoader::give_samples() {
  for (std::size_t word = 0; word < resting_workers_.size() && has_samples(); ++word) {
    while (resting_workers_[word] != 0 && has_samples()) {
      const int bit = std::countr_zero(resting_workers_[word]);
      next_task(static_cast<std::int32_t>(word * 64) + bit);
    }
  }
}

void ModelLoader::received(ModelBatch& batch) {
  if (!plan_.sample_tasks) --worker_at(batch.events.worker).outstanding;
}

void ModelLoader::release(ModelBatch& batch) { free_batches_.push_back(&batch); }

// The life of a worker: it starts, rests, and does one task after another.

void ModelLoader::start_worker(std::int32_t index, const Interval& parent) {
  Worker& worker = worker_at(index);
  leave_rest(index);
  ++starting_;
  // Also of no length, where its turn came late.
  if (parent.wall() > 0 || parent.end > world_.now())
    record_start(index, parent, Stage::startup_parent);
  if (parent.end > world_.now()) {
    worker.doing = WorkerState::to_be_started;
    world_.wake_at(parent.end, who(Role::worker, index));
    return;
  }
  start_up(index);
}

void ModelLoader::start_up(std::int32_t index) {
  Worker& worker = worker_at(index);
  StageTime time = plan_.startup.time(plan_.worker_start(rank_, index, epoch_));
  if (epoch_ == 0) time.waits += plan_.start_delay(rank_);
  if (time.wall() == 0) {
    is_up(index);
    return;
  }
  worker.doing = WorkerState::starting;
  world_.begin(who(Role::worker, index), time, worker.work);
}

void ModelLoader::is_up(std::int32_t index) {
  rest(index);
  next_task(index);
  if (--starting_ == 0) all_started_();
}

void ModelLoader::rest(std::int32_t index) {
  Worker& worker = worker_at(index);
  worker.doing = WorkerState::resting;
  worker.resting_since = world_.now();
  resting_workers_[static_cast<std::size_t>(index) / 64] |= std::uint64_t{1} << (index % 64);
}

void ModelLoader::leave_rest(std::int32_t index) {
  resting_workers_[static_cast<std::size_t>(index) / 64] &= ~(std::uint64_t{1} << (index % 64));
}

void ModelLoader::next_task(std::int32_t index) {
  Worker& worker = worker_at(index);
  if (plan_.sample_tasks) {
    if (!has_samples()) return;
    ModelBatch& batch = *sample_tasks_.front();
    begin_batch(index, batch);
    worker.sample = batch.next_sample++;
    worker.sample_end = worker.sample + 1;
    if (batch.next_sample == batch.events.samples) sample_tasks_.pop_front();
  } else {
    if (worker.tasks.empty()) return;
    if (worker.doing == WorkerState::resting && !plan_.made_by_trainer && plan_.turn() > 0) {
      worker.doing = WorkerState::turning;
      world_.wake_at(world_.now() + plan_.turn(), who(Role::worker, index));
      return;
    }
    ModelBatch& batch = *worker.tasks.front();
    worker.tasks.pop_front();
    begin_batch(index, batch);
    worker.sample = 0;
    worker.sample_end = batch.events.samples;
  }
  worker.doing = WorkerState::sampling;
  begin_sample(index);
  make(index);
}

// The worker turns to `batch`, from rest or from another batch.
void ModelLoader::begin_batch(std::int32_t index, ModelBatch& batch) {
  Worker& worker = worker_at(index);
  worker.clock = world_.now();
  worker.woken = false;
  worker.batch = &batch;
  if (worker.batch_index != batch.events.batch) {
    worker.batch_index = batch.events.batch;
    worker.begun = world_.now();
    worker.rested = 0;
  }
  if (worker.doing == WorkerState::resting || worker.doing == WorkerState::turning) end_rest(index);
}

void ModelLoader::end_rest(std::int32_t index) {
  Worker& worker = worker_at(index);
  leave_rest(index);
  const Nanos now = world_.now();
  if (plan_.made_by_trainer || now == worker.resting_since) return;
  folder_.span(rank_, index, make_span({worker.resting_since, now, 0, 0}, Stage::idle));
  // Before the epoch's first task the window was not full, there was no epoch. A worker that turns
  // to a task has one.
  const Nanos until = worker.doing == WorkerState::turning ? now - plan_.turn() : now;
  worker.rested += until - std::min(until, std::max(worker.resting_since, epoch_dispatch_));
}

void ModelLoader::wake_worker(std::int32_t index) {
  Worker& worker = worker_at(index);
  switch (worker.doing) {
    case WorkerState::to_be_started:
      start_up(index);
      return;
    case WorkerState::turning:
      next_task(index);
      return;
    case WorkerState::starting:
      record_start(index, world_.end(worker.work), Stage::startup);
      is_up(index);
      return;
    case WorkerState::sampling:
    case WorkerState::collating:
      worker.woken = true;
      if (worker.awaits_request) return look_for_request(index);
      if (worker.working) {
        const bool reading = worker.read.phase != SimulatedMachine::Read::Phase::none;
        if (reading && !world_.continue_read(who(Role::worker, index), worker.read)) return;
        record(index, world_.end(worker.work));
        worker.working = false;
      }
      make(index);
      return;
    case WorkerState::nothing:
    case WorkerState::resting:
      return;
  }
}

void ModelLoader::record_start(std::int32_t index, const Interval& interval, Stage stage) {
  folder_.span(rank_, index, make_span(interval, stage));
}

Span ModelLoader::make_span(const Interval& interval, Stage stage) {
  Span span;
  span.begin = interval.begin;
  span.end = interval.end;
  span.cpu = interval.cpu;
  span.queued = interval.queued;
  span.stage = stage;
  return span;
}

}  // namespace loaderscope::model
