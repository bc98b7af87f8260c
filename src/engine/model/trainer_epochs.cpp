// Begins the epochs of one modelled rank: starts the workers and fills the window.
#include "engine/model/trainer.h"

namespace loaderscope::model {

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
    const StageTime time = plan_.startup_parent.time(plan_.start_of(rank_, starting_, epoch_));
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
