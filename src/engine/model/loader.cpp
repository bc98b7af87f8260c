#include "engine/model/loader.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "record/checked_sum.h"

namespace loaderscope::model {

Loader::Loader(const Plan& plan, World& world, Folder& folder, std::int32_t rank,
               std::function<void(Batch&)> arrived, std::function<void()> all_up)
    : plan_(plan),
      world_(world),
      folder_(folder),
      rank_(rank),
      arrived_(std::move(arrived)),
      all_up_(std::move(all_up)),
      workers_(static_cast<std::size_t>(plan.workers)),
      resting_workers_(static_cast<std::size_t>(plan.workers + 63) / 64) {
  if (const FittedCosts::Requests* requests = plan.requests())
    requests_ = std::vector<RequestQueue>(workers_.size(), RequestQueue(*requests));
}

Execution Loader::execution(std::int32_t worker, const Batch& batch) const {
  return plan_.execution(rank_, worker, batch.events, batch.batch_of_epoch);
}

// Dispatch.

void Loader::begin_epoch(std::int64_t epoch) {
  epoch_ = epoch;
  dispatched_of_epoch_ = 0;
  next_worker_ = 0;
}

void Loader::fill_window() {
  epoch_dispatch_ = world_.now();
  for (std::int64_t i = 0; i < plan_.window; ++i) dispatch_one();
}

void Loader::dispatch_one() {
  if (plan_.batches_per_epoch > 0 && dispatched_of_epoch_ == plan_.batches_per_epoch) return;
  if (free_batches_.empty()) {
    batches_.push_back(std::make_unique<Batch>());
    free_batches_.push_back(batches_.back().get());
  }
  if (plan_.made_by_trainer && dispatched_of_epoch_ == 0) epoch_dispatch_ = world_.now();
  Batch& batch = *free_batches_.back();
  free_batches_.pop_back();
  batch = Batch{};
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

  if (plan_.sample_tasks) {
    sample_tasks_.push_back(&batch);
    give_samples();
    return;
  }
  const std::int32_t chosen = choose_worker();
  Worker& worker = workers_[static_cast<std::size_t>(chosen)];
  ++worker.outstanding;
  worker.tasks.push_back(&batch);
  if (plan_.made_by_trainer && worker.doing == Doing::nothing) worker.doing = Doing::resting;
  if (worker.doing == Doing::resting) next_task(chosen);
}

// PyTorch's rule: the next worker of the round; where the order does not matter, the next with
// fewer than prefetch-factor batches dispatched to it.
std::int32_t Loader::choose_worker() {
  for (std::int32_t tried = 0; tried < plan_.workers; ++tried) {
    const std::int32_t chosen = next_worker_;
    next_worker_ = next_worker_ + 1 == plan_.workers ? 0 : next_worker_ + 1;
    if (plan_.in_order || workers_[static_cast<std::size_t>(chosen)].outstanding <
                              plan_.config.loader.prefetch_factor) {
      return chosen;
    }
  }
  return next_worker_;
}

void Loader::give_samples() {
  for (std::size_t word = 0; word < resting_workers_.size() && has_samples(); ++word) {
    while (resting_workers_[word] != 0 && has_samples()) {
      const int bit = std::countr_zero(resting_workers_[word]);
      next_task(static_cast<std::int32_t>(word * 64) + bit);
    }
  }
}

void Loader::received(Batch& batch) {
  if (!plan_.sample_tasks) --workers_[static_cast<std::size_t>(batch.events.worker)].outstanding;
}

void Loader::release(Batch& batch) { free_batches_.push_back(&batch); }

// A worker's life.

void Loader::start_worker(std::int32_t index, const Interval& parent) {
  Worker& worker = workers_[static_cast<std::size_t>(index)];
  leave_rest(index);
  ++coming_up_;
  // Also of no length, where its turn came late.
  if (parent.wall() > 0 || parent.end > world_.now())
    record_start(index, parent, Stage::startup_parent);
  if (parent.end > world_.now()) {
    worker.doing = Doing::to_be_started;
    world_.wake_at(parent.end, who(Role::worker, index));
    return;
  }
  come_up(index);
}

void Loader::come_up(std::int32_t index) {
  Worker& worker = workers_[static_cast<std::size_t>(index)];
  Execution execution;
  execution.rank = rank_;
  execution.worker = index;
  execution.epoch = epoch_;
  execution.draw = static_cast<std::int64_t>(index) * plan_.ranks + rank_;
  execution.count = epoch_;
  StageTime time = plan_.startup.time(execution);
  if (epoch_ == 0) time.waits += plan_.comes_later(rank_);
  if (time.wall() == 0) {
    is_up(index);
    return;
  }
  worker.doing = Doing::starting;
  world_.begin(who(Role::worker, index), time, worker.work);
}

void Loader::is_up(std::int32_t index) {
  rest(index);
  next_task(index);
  if (--coming_up_ == 0) all_up_();
}

void Loader::record_start(std::int32_t index, const Interval& interval, Stage stage) {
  Span span;
  span.begin = interval.begin;
  span.end = interval.end;
  span.cpu = interval.cpu;
  span.queued = interval.queued;
  span.stage = stage;
  folder_.span(rank_, index, span);
}

void Loader::rest(std::int32_t index) {
  Worker& worker = workers_[static_cast<std::size_t>(index)];
  worker.doing = Doing::resting;
  worker.resting_since = world_.now();
  resting_workers_[static_cast<std::size_t>(index) / 64] |= std::uint64_t{1} << (index % 64);
}

void Loader::leave_rest(std::int32_t index) {
  resting_workers_[static_cast<std::size_t>(index) / 64] &= ~(std::uint64_t{1} << (index % 64));
}

void Loader::next_task(std::int32_t index) {
  Worker& worker = workers_[static_cast<std::size_t>(index)];
  if (plan_.sample_tasks) {
    if (!has_samples()) return;
    Batch& batch = *sample_tasks_.front();
    begin_batch(index, batch);
    worker.sample = batch.next_sample++;
    worker.sample_end = worker.sample + 1;
    if (batch.next_sample == batch.events.samples) sample_tasks_.pop_front();
  } else {
    if (worker.tasks.empty()) return;
    Batch& batch = *worker.tasks.front();
    worker.tasks.pop_front();
    begin_batch(index, batch);
    worker.sample = 0;
    worker.sample_end = batch.events.samples;
  }
  worker.doing = Doing::sampling;
  begin_sample(index);
  make(index);
}

// The worker turns to `batch`, from rest or from another batch.
void Loader::begin_batch(std::int32_t index, Batch& batch) {
  Worker& worker = workers_[static_cast<std::size_t>(index)];
  worker.clock = world_.now();
  worker.woken = false;
  worker.batch = &batch;
  if (worker.batch_index != batch.events.batch) {
    worker.batch_index = batch.events.batch;
    worker.begun = world_.now();
    worker.rested = 0;
  }
  if (worker.doing == Doing::resting) end_rest(index);
}

void Loader::end_rest(std::int32_t index) {
  Worker& worker = workers_[static_cast<std::size_t>(index)];
  leave_rest(index);
  const Nanos now = world_.now();
  if (plan_.made_by_trainer || now == worker.resting_since) return;
  Span span;
  span.begin = worker.resting_since;
  span.end = now;
  span.stage = Stage::idle;
  folder_.span(rank_, index, span);
  // Before the epoch's first task the window was not full, there was no epoch.
  worker.rested += now - std::min(now, std::max(worker.resting_since, epoch_dispatch_));
}

void Loader::wake_worker(std::int32_t index) {
  Worker& worker = workers_[static_cast<std::size_t>(index)];
  switch (worker.doing) {
    case Doing::to_be_started:
      come_up(index);
      return;
    case Doing::starting:
      record_start(index, world_.end(worker.work), Stage::startup);
      is_up(index);
      return;
    case Doing::sampling:
    case Doing::collating:
      worker.woken = true;
      if (worker.working) {
        const bool reading = worker.read.phase != World::Read::Phase::none;
        if (reading && !world_.continue_read(who(Role::worker, index), worker.read)) return;
        record(index, world_.end(worker.work));
        worker.working = false;
      }
      make(index);
      return;
    case Doing::nothing:
    case Doing::resting:
      return;
  }
}

// Making.

void Loader::begin_sample(std::int32_t index) {
  Worker& worker = workers_[static_cast<std::size_t>(index)];
  worker.stage = 0;
  if (worker.sample == worker.sample_end) return;
  const std::int64_t position =
      worker.batch->batch_of_epoch * plan_.config.loader.batch_size + worker.sample;
  worker.sample_id = plan_.sample_at(rank_, epoch_, position);
  Execution execution = this->execution(index, *worker.batch);
  execution.draw = worker.sample_id;
  execution.count = position;
  worker.sample_bytes = plan_.stored_bytes(execution);
  add_checked(worker.batch->events.read_bytes, worker.sample_bytes);
}

void Loader::make(std::int32_t index) {
  Worker& worker = workers_[static_cast<std::size_t>(index)];
  while (worker.doing == Doing::sampling && worker.sample < worker.sample_end) {
    if (worker.stage == plan_.sample_stages.size()) {
      ++worker.sample;
      begin_sample(index);
      continue;
    }
    const StagePlan& stage = plan_.sample_stages[worker.stage++];
    Execution execution = this->execution(index, *worker.batch);
    execution.draw = worker.sample_id;
    execution.count = worker.batch->batch_of_epoch * plan_.config.loader.batch_size + worker.sample;
    execution.bytes = worker.sample_bytes;
    if (begin_stage(index, stage, execution)) return;
  }
  if (!worker.woken) {
    // Made at once: the worker is woken when the time computed has come, with nothing left to make.
    // Also when nothing took any time, so that works without a cost follow each other as events,
    // not as nested calls.
    if (plan_.makes_at_once && !plan_.sample_tasks && plan_.collate.active()) collate(index);
    world_.wake_at(worker.clock, who(Role::worker, index));
    return;
  }
  if (worker.doing == Doing::sampling) {
    samples_made(index);
  } else {
    finish(index);
  }
}

void Loader::collate(std::int32_t index) {
  Worker& worker = workers_[static_cast<std::size_t>(index)];
  worker.doing = Doing::collating;
  begin_stage(index, plan_.collate, execution(index, *worker.batch));
}

// Begins a stage on the worker's clock. True when the worker is to be woken at its end; false when
// the time is computed already.
bool Loader::begin_stage(std::int32_t index, const StagePlan& stage, const Execution& execution) {
  Worker& worker = workers_[static_cast<std::size_t>(index)];
  worker.working_on = stage.stage();
  worker.working_bytes = execution.bytes;
  const bool from_storage = stage.stage() == Stage::read && plan_.has_storage;
  StageTime time = from_storage ? StageTime{stage.injected(execution), 0, 0}  //
                                : plan_.sample_time(stage, execution);
  if (stage.stage() == Stage::read && !requests_.empty())
    time = {waits_for_request(index) + stage.injected(execution), 0, time.cpu};
  if (plan_.makes_at_once) {
    const Nanos begin = worker.clock;
    worker.clock += time.wall() + (from_storage ? plan_.storage_latency : 0);
    check_time(worker.clock);
    record(index, {begin, worker.clock, time.cpu, 0});
    return false;
  }
  worker.working = true;
  if (from_storage) {
    worker.work = world_.begin_waiting();
    worker.read.bytes = execution.bytes;
    worker.read.extra = time.waits;
    world_.begin_read(who(Role::worker, index), worker.read);
    return true;
  }
  world_.begin(who(Role::worker, index), time, worker.work);
  return true;
}

// A worker knows of the samples of its batch, or of its share of one, and of the next in its queue.
Nanos Loader::waits_for_request(std::int32_t index) {
  const Worker& worker = workers_[static_cast<std::size_t>(index)];
  std::int64_t known = worker.sample_end - worker.sample - 1;
  if (plan_.streamed) {
    known = plan_.config.loader.batch_size * plan_.window;
  } else if (plan_.sample_tasks) {
    known = has_samples() ? (plan_.config.loader.batch_size - 1) / plan_.workers : 0;
  } else if (!worker.tasks.empty()) {
    known += worker.tasks.front()->events.samples;
  }
  const Nanos now = plan_.makes_at_once ? worker.clock : world_.now();
  RequestQueue& requests = requests_[static_cast<std::size_t>(index)];
  return requests.next_ready(now, known, world_.request_link_free()) - now;
}

void Loader::record(std::int32_t index, const Interval& interval) {
  const Worker& worker = workers_[static_cast<std::size_t>(index)];
  Span span;
  span.begin = interval.begin;
  span.end = interval.end;
  span.cpu = interval.cpu;
  span.queued = interval.queued;
  span.batch = worker.batch->events.batch;
  span.sample = is_per_sample(worker.working_on) ? worker.sample_id : -1;
  span.bytes = worker.working_bytes;
  span.stage = worker.working_on;
  folder_.span(rank_, index, span);
}

void Loader::samples_made(std::int32_t index) {
  Worker& worker = workers_[static_cast<std::size_t>(index)];
  if (plan_.sample_tasks && --worker.batch->samples_left > 0) {
    // Somebody else is still at work on this batch.
    rest(index);
    next_task(index);
    return;
  }
  if (!plan_.collate.active()) {
    finish(index);
    return;
  }
  collate(index);
  if (plan_.makes_at_once) world_.wake_at(worker.clock, who(Role::worker, index));
}

void Loader::finish(std::int32_t index) {
  Worker& worker = workers_[static_cast<std::size_t>(index)];
  Batch& batch = *worker.batch;
  StepEvents& events = batch.events;
  events.worker = index;
  events.begun = worker.begun;
  events.worker_idle = worker.rested;
  events.finished = world_.now();
  rest(index);
  if (plan_.send.active() && !plan_.made_by_trainer) {
    worker.to_send.push_back(&batch);
    if (!worker.sending) send_next(index);
  } else {
    sent(batch);
  }
  if (worker.doing == Doing::resting) next_task(index);
}

// From the worker to the trainer.

void Loader::send_next(std::int32_t index) {
  Worker& worker = workers_[static_cast<std::size_t>(index)];
  worker.sending = !worker.to_send.empty();
  if (!worker.sending) return;
  const StageTime time = plan_.send.time(execution(index, *worker.to_send.front()));
  world_.begin(who(Role::feeder, index), time, worker.send_work);
}

void Loader::wake_feeder(std::int32_t index) {
  Worker& worker = workers_[static_cast<std::size_t>(index)];
  Batch& batch = *worker.to_send.front();
  worker.to_send.pop_front();
  batch.events.send = world_.end(worker.send_work);
  sent(batch);
  send_next(index);
}

void Loader::sent(Batch& batch) {
  if (!plan_.pin_thread) {
    deliver(batch);
    return;
  }
  to_pin_.push_back(&batch);
  if (pinning_ == nullptr) pin_next();
}

void Loader::pin_next() {
  if (to_pin_.empty()) return;
  pinning_ = to_pin_.front();
  to_pin_.pop_front();
  pin_receives_ = plan_.receive.active() && !plan_.made_by_trainer;
  if (!pin_receives_) {
    begin_pinning();
    return;
  }
  world_.begin(who(Role::pin_thread, 0), plan_.receive_time(execution(-1, *pinning_)), pin_work_);
}

void Loader::begin_pinning() {
  pin_receives_ = false;
  world_.begin(who(Role::pin_thread, 0), plan_.pin.time(execution(-1, *pinning_)), pin_work_);
}

void Loader::wake_pin_thread() {
  const Interval interval = world_.end(pin_work_);
  if (pin_receives_) {
    pinning_->events.receive = interval;
    begin_pinning();
    return;
  }
  pinning_->events.pin = interval;
  Batch& batch = *std::exchange(pinning_, nullptr);
  deliver(batch);
  pin_next();
}

void Loader::deliver(Batch& batch) {
  batch.events.deliverable = world_.now();
  folder_.deliverable(rank_, batch.events.batch, world_.now());
  arrived_(batch);
}

}  // namespace loaderscope::model
