#include "engine/model/trainer.h"

#include <utility>

namespace loaderscope::model {

ModelTrainer::ModelTrainer(const LoaderPlan& plan, SimulatedMachine& world, Folder& folder,
                           std::int32_t rank, std::function<void(Nanos)> barrier,
                           std::function<void(StepEvents&)> done)
    : plan_(plan),
      world_(world),
      folder_(folder),
      rank_(rank),
      who_(pack({Role::trainer, rank, 0})),
      in_flight_(plan.in_flight_of_rank[static_cast<std::size_t>(rank)]),
      done_(std::move(done)),
      loader_(
          plan, world, folder, rank, [this](ModelBatch& batch) { arrived(batch); },
          [this] { workers_up(); }),
      device_(plan, world, rank, std::move(barrier),
              [this](StepEvents& events) { step_done(events); }),
      device_thread_(plan, world, device_, rank, [this](ModelBatch& batch) { deliver(batch); }),
      early_(static_cast<std::size_t>(plan.prefetch_depth + 1)) {}

void ModelTrainer::start() {
  folder_.first_ask(rank_, world_.now());
  ask();
}

// A wait whose end may not be known yet.
void ModelTrainer::wake_up_at(Nanos at) {
  parked_ = at == kNever;
  if (!parked_) world_.wake_at(std::max(at, world_.now()), who_);
}

void ModelTrainer::wake() {
  switch (doing_) {
    case TrainerState::waiting_for_compute:
      ask();
      return;
    case TrainerState::waiting_for_workers:
      begin_epoch();
      return;
    case TrainerState::starting_workers:
      loader_.start_worker(starting_++, world_.end(work_));
      start_next_worker();
      return;
    case TrainerState::waiting_for_batch:
      wake_due_ = false;
      try_take();
      return;
    case TrainerState::receiving: {
      doing_ = TrainerState::waiting_for_batch;
      receiving_->events.receive = world_.end(work_);
      accept(*std::exchange(receiving_, nullptr));
      if (doing_ == TrainerState::waiting_for_batch) try_take();
      return;
    }
    case TrainerState::waiting_for_copy_queue:
      copy_by_hand();
      return;
    case TrainerState::copying:
      device_.copied(events_, world_.end(work_));
      launch();
      return;
    case TrainerState::waiting_for_copy:
      launch();
      return;
    case TrainerState::launching:
      launched(world_.end(work_));
      return;
    case TrainerState::nothing:
      return;
  }
}

// News from the device: what the trainer waits for may be known now.
void ModelTrainer::step_done(StepEvents& events) {
  done_(events);
  if (!parked_) return;
  switch (doing_) {
    case TrainerState::waiting_for_compute:
      wake_up_at(device_.compute_end(step_ - in_flight_));
      return;
    case TrainerState::waiting_for_copy_queue:
      wake_up_at(device_.copy_queue_free());
      return;
    case TrainerState::waiting_for_copy:
      wake_up_at(device_.copy_end());
      return;
    default:
      return;
  }
}

void ModelTrainer::ask() {
  const Nanos free = device_.compute_end(step_ - in_flight_);
  if (free > world_.now()) {
    doing_ = TrainerState::waiting_for_compute;
    wake_up_at(free);
    return;
  }
  if (plan_.on_device.makes() && step_ >= in_flight_) device_thread_.free_slot();
  const bool epoch_over = epoch_is_over();
  if (epoch_over && plan_.config.measure.epochs > 0 && epoch_ + 1 == plan_.config.measure.epochs) {
    doing_ = TrainerState::nothing;
    return;
  }
  asked_ = world_.now();
  if (epoch_ < 0 || epoch_over) {
    begin_epoch();
    return;
  }
  doing_ = TrainerState::waiting_for_batch;
  if (plan_.made_by_trainer) loader_.dispatch_one();
  try_take();
}

void ModelTrainer::arrived(ModelBatch& batch) {
  if (plan_.on_device.makes())
    device_thread_.hand(batch);
  else
    deliver(batch);
}

void ModelTrainer::deliver(ModelBatch& batch) {
  batch.events.deliverable = world_.now();
  folder_.deliverable(rank_, batch.events.batch, world_.now());
  arrivals_.push_back(&batch);
  ready_.add(1, world_.now());
  // A separate event comes after all other ends of this ns.
  if (doing_ == TrainerState::waiting_for_batch && !wake_due_) {
    wake_due_ = true;
    world_.wake_at(world_.now(), who_);
  }
}

void ModelTrainer::try_take() {
  while (doing_ == TrainerState::waiting_for_batch) {
    if (plan_.in_order) {
      ModelBatch*& early = early_[static_cast<std::size_t>(step_) % early_.size()];
      if (early != nullptr) {
        take(*std::exchange(early, nullptr));
        return;
      }
    }
    if (!receive_next()) return;
  }
}

bool ModelTrainer::receive_next() {
  if (arrivals_.empty()) return false;
  ModelBatch& batch = *arrivals_.front();
  arrivals_.pop_front();
  const bool trainer_receives =
      plan_.receive.active() && !plan_.has_receiver() && !plan_.made_by_trainer;
  if (!trainer_receives) {
    accept(batch);
    return true;
  }
  receiving_ = &batch;
  doing_ = TrainerState::receiving;
  world_.begin(who_,
               plan_.receive_time(plan_.execution(rank_, -1, batch.events, batch.batch_of_epoch)),
               work_);
  return true;
}

void ModelTrainer::accept(ModelBatch& batch) {
  loader_.received(batch);
  if (plan_.in_order && batch.events.batch != step_) {
    early_[static_cast<std::size_t>(batch.events.batch) % early_.size()] = &batch;
    return;
  }
  take(batch);
}

void ModelTrainer::take(ModelBatch& batch) {
  ready_.add(-1, world_.now());
  events_ = batch.events;
  events_.step = step_;
  events_.first_of_epoch = taken_of_epoch_ == 0;
  events_.ask = asked_;
  events_.take = world_.now();
  ++taken_of_epoch_;
  loader_.release(batch);
  if (!plan_.made_by_trainer) loader_.dispatch_one();
  copy();
}

void ModelTrainer::copy() {
  if (plan_.on_device.makes()) {  // the device thread has submitted the copy
    device_.submit_copy(events_, world_.now(), 0);
    launch();
    return;
  }
  const Nanos duration = plan_.copy_time(plan_.execution_of_step(rank_, events_));
  if (plan_.link.copy_keeps_trainer && duration > 0) {
    doing_ = TrainerState::waiting_for_copy_queue;
    const Nanos free = device_.copy_queue_free();
    if (free <= world_.now()) {
      copy_by_hand();
    } else {
      wake_up_at(free);
    }
    return;
  }
  device_.submit_copy(events_, world_.now(), duration);
  if (plan_.config.trainer.copy == CopyMode::sync && duration > 0) {
    doing_ = TrainerState::waiting_for_copy;
    wake_up_at(device_.copy_end());
    return;
  }
  launch();
}

void ModelTrainer::copy_by_hand() {
  doing_ = TrainerState::copying;
  world_.begin(who_, plan_.copy_work(plan_.execution_of_step(rank_, events_)), work_);
}

void ModelTrainer::launch() {
  if (!plan_.launch.active()) {
    launched({});
    return;
  }
  doing_ = TrainerState::launching;
  world_.begin(who_, plan_.launch.time(plan_.execution_of_step(rank_, events_)), work_);
}

void ModelTrainer::launched(const Interval& launch) {
  ++step_;
  doing_ = TrainerState::waiting_for_compute;
  parked_ = false;
  device_.submit_compute(world_.now(), launch, epoch_is_over());
  // A separate event prevents recursion: steps that take no time follow each other.
  world_.wake_at(world_.now() + plan_.launches_on(plan_.execution_of_step(rank_, events_)), who_);
}

// Begins the epochs of one modelled rank: starts the workers and fills the window.

bool ModelTrainer::epoch_is_over() const {
  return plan_.batches_per_epoch > 0 && taken_of_epoch_ == plan_.batches_per_epoch;
}

void ModelTrainer::begin_epoch() {
  const bool workers_start =
      !plan_.made_by_trainer && (epoch_ < 0 || !plan_.config.loader.persistent_workers);
  if (workers_start && !loader_.all_workers_up()) {
    // Too late for the epoch that is over; they are awaited, as PyTorch joins them, before new ones
    // are started.
    doing_ = TrainerState::waiting_for_workers;
    return;
  }
  ++epoch_;
  taken_of_epoch_ = 0;
  loader_.begin_epoch(epoch_);
  starting_ = workers_start ? 0 : plan_.workers;
  server_free_ = world_.now();
  doing_ = TrainerState::starting_workers;
  start_next_worker();
}

// The trainer starts one worker after another, or has the fork server do so, and then fills the
// window.
void ModelTrainer::start_next_worker() {
  while (starting_ < plan_.workers && !plan_.made_by_trainer) {
    const StageTime time = plan_.startup_parent.time(plan_.worker_start(rank_, starting_, epoch_));
    if (plan_.server_forks) {
      const Nanos begin = server_free_;
      server_free_ += time.wall();
      loader_.start_worker(starting_++, {begin, server_free_});
    } else if (time.wall() > 0) {
      world_.begin(who_, time, work_);
      return;
    } else {
      loader_.start_worker(starting_++, {world_.now(), world_.now()});
    }
  }
  doing_ = TrainerState::waiting_for_batch;
  if (plan_.made_by_trainer) {
    loader_.dispatch_one();
  } else {
    loader_.fill_window();
  }
  try_take();
}

void ModelTrainer::workers_up() {
  if (doing_ == TrainerState::waiting_for_workers) world_.wake_at(world_.now(), who_);
}

}  // namespace loaderscope::model
