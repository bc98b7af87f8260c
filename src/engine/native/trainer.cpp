#include "engine/native/trainer.h"

#include <algorithm>
#include <string>

#include "engine/native/receiving.h"
#include "loaderscope/errors.h"
#include "record/interval_meter.h"

namespace loaderscope::native {

Trainer::Trainer(Job& job, RankShare& share, WorkerGroup& group, Device& device)
    : job_(job),
      plan_(job.plan),
      rank_(share.rank),
      device_(device),
      loader_(job, share, group, device),
      sleeper_(job.stop) {}

void Trainer::run() {
  nvtx::name_thread("trainer", rank_);
  use_exact_sleeps();
  run_queue_.emplace();
  const Nanos first_ask = monotonic_now();
  job_.put_first_ask(rank_, first_ask);
  for (;; ++step_) {
    const Nanos launched = monotonic_now();
    // Step k-N has ended: its memory may be written again.
    if (step_ >= plan_.in_flight && !wait_computed(step_ - plan_.in_flight)) return;
    if (step_ >= plan_.in_flight) loader_.free_device_slot();
    if (in_flight_.size() >= static_cast<std::size_t>(plan_.in_flight)) {
      loader_.release(*in_flight_.front());
      in_flight_.pop_front();
    }
    collect();
    asked_ = step_ == 0 ? first_ask : monotonic_now();
    const Nanos ask_queued = run_queue_->read_at_most(asked_ - launched);
    Batch* batch = next();
    if (batch == nullptr && none_left_) break;
    if (batch == nullptr) return;
    batch->events.ask = asked_;
    batch->events.ask_queued = ask_queued;
    if (!copy_and_launch(*batch)) return;
    in_flight_.push_back(batch);
  }
  wait_computed(step_ - 1);
  collect();
  input_over_.store(true, std::memory_order_release);
}

bool Trainer::wait_computed(std::int64_t step) {
  const nvtx::Range range(nvtx::Activity::wait_computed, {step, -1, 0});
  return device_.wait_computed(step);
}

bool Trainer::begin_epoch() {
  if (plan_.config.measure.epochs > 0 && epoch_ + 1 == plan_.config.measure.epochs) return false;
  const bool workers_start = epoch_ < 0 || !plan_.config.loader.persistent_workers;
  ++epoch_;
  taken_of_epoch_ = samples_of_epoch_ = 0;
  loader_.begin_epoch(epoch_, workers_start);
  return true;
}

Batch* Trainer::next() {
  const bool epoch_over = plan_.batches_per_epoch > 0 && taken_of_epoch_ == plan_.batches_per_epoch;
  none_left_ = (step_ == 0 || epoch_over) && !begin_epoch();
  while (!none_left_) {
    if (plan_.made_by_trainer) loader_.dispatch_one();
    if (Batch* batch = take()) return batch;
    if (!loader_.streams_ended()) break;
    end_streams();
    none_left_ = !begin_epoch();
  }
  return nullptr;
}

void Trainer::end_streams() {
  if (taken_of_epoch_ == 0) {
    throw RunError(
        "an epoch of rank " + std::to_string(rank_) +
            " has no batch: of its shards no sample can be used, or with --drop-last none "
            "of its workers has enough for one",
        "look at the shards with --on-error fail, "
        "or give a smaller --batch-size");
  }
  if (epoch_ == 0) streamed_samples_ = samples_of_epoch_;
}

// Enforces the order of dispatch: keeps an early batch for later. Null: no batch can be taken yet.
Batch* Trainer::take_in_order(Batch* received, std::int64_t number) {
  if (number != next_batch_) {
    early_.emplace(number, received);
    return nullptr;
  }
  ++next_batch_;
  return received != nullptr ? received : take_early();
}

// Returns the early batch that is next in order, or null.
Batch* Trainer::take_early() {
  while (!early_.empty() && early_.begin()->first == next_batch_) {
    Batch* batch = early_.begin()->second;
    early_.erase(early_.begin());
    ++next_batch_;
    if (batch != nullptr) return batch;
  }
  return nullptr;
}

// The next batch: with in-order delivery the one whose turn it is, early ones are put aside.
Batch* Trainer::take() {
  const nvtx::Range range(nvtx::Activity::wait_for_batch, {step_, -1, 0});
  Batch* batch = take_early();
  if (batch != nullptr) batch->events.take_queued = 0;  // received long before
  while (batch == nullptr) {
    if (loader_.streams_ended()) return nullptr;
    Batch* received = receive_one();
    if (received == nullptr) return nullptr;
    const std::int64_t number = received->events.batch;
    if (received->events.samples == 0) {
      loader_.on_empty_batch(*received);
      received = nullptr;
    }
    batch = plan_.in_order ? take_in_order(received, number) : received;
  }
  StepEvents& events = batch->events;
  events.step = step_;
  events.first_of_epoch = taken_of_epoch_++ == 0;
  samples_of_epoch_ += events.samples;
  events.take = monotonic_now();
  if (!plan_.made_by_trainer) loader_.dispatch_one();
  return batch;
}

Batch* Trainer::receive_one() {
  Batch* batch = loader_.receive();
  if (batch == nullptr) return nullptr;
  note_waking(batch->events);
  loader_.received(*batch);
  if (plan_.receive.active() && !plan_.has_receiver() && !plan_.made_by_trainer) {
    const Execution execution = plan_.execution(rank_, -1, batch->events, batch->batch_of_epoch);
    spend_on_receiving(plan_, *batch, execution, sleeper_, *run_queue_);
  }
  return batch;
}

// Reads the trainer's delay. The batch was there, and the trainer waited for a core before it could
// receive it. Batches that the trainer makes itself measure their own delays.
void Trainer::note_waking(StepEvents& events) {
  const bool arrives = events.receive.ran() && !plan_.has_receiver();
  const Nanos there = std::max(asked_, events.deliverable);
  const Nanos delay = run_queue_->read_at_most(plan_.made_by_trainer ? 0
                                               : arrives             ? events.receive.wall()
                                                                     : monotonic_now() - there);
  (arrives ? events.receive.queued : events.take_queued) = delay;
}

CopyJob Trainer::next_copy(const Batch& batch) const {
  const StepEvents& events = batch.events;
  CopyJob copy;
  copy.step = step_;
  if (plan_.on_device.makes()) return copy;  // the device thread has submitted it
  copy.host = batch.copied_from;
  copy.bytes = events.delivered_bytes;
  copy.duration = plan_.copy_time(plan_.execution_of_step(rank_, events));
  copy.caller_copies = plan_.link.copy_keeps_trainer;
  // The batches that the device has stay there.
  if (plan_.knockouts.has(Stage::h2d) && step_ >= plan_.in_flight)
    copy = {.step = step_, .reused_bytes = copy.host != nullptr ? copy.bytes : 0};
  return copy;
}

bool Trainer::copy_and_launch(Batch& batch) {
  StepEvents& events = batch.events;
  const CopyJob copy = next_copy(batch);
  const Nanos taken = monotonic_now();
  if (!submit_copy(copy)) return false;
  Nanos reported_until = taken;
  if (copy.caller_copies) {
    reported_until = monotonic_now();
    // A declared or simulated copy takes its time with a core or without one.
    events.copy.queued = run_queue_->read_at_most(reported_until - taken - copy.duration);
  }
  const bool waits = plan_.config.trainer.copy == CopyMode::sync && !plan_.on_device.makes();
  if (waits && !wait_copied(copy)) return false;
  launch(events, reported_until);
  if (plan_.on_device.makes()) events.submitted = monotonic_now();
  waiting_.push_back(events);
  device_.submit_compute(
      step_, plan_.has_device ? plan_.compute_time(plan_.execution_of_step(rank_, events)) : 0);
  collect();
  return true;
}

// Adds delays for a core since `reported_until`, also without a declared cost: after a copy that
// the trainer waited for.
void Trainer::launch(StepEvents& events, Nanos reported_until) {
  const nvtx::Range range(Stage::launch, {step_, -1, events.delivered_bytes});
  const Nanos woken = run_queue_->read_at_most(monotonic_now() - reported_until);
  if (!plan_.launch.active() && woken == 0) return;
  IntervalMeter meter(*run_queue_);
  if (plan_.launch.active()) spend(plan_.launch, plan_.execution_of_step(rank_, events), sleeper_);
  events.launch = meter.end(plan_.launch.sleeps());
  events.launch.begin -= woken;
  events.launch.queued += woken;
}

bool Trainer::submit_copy(const CopyJob& copy) {
  const nvtx::Range range(nvtx::Activity::submit_copy, {copy.step, -1, copy.bytes});
  return device_.submit_copy(copy);
}

bool Trainer::wait_copied(const CopyJob& copy) {
  const nvtx::Range range(nvtx::Activity::wait_copied, {copy.step, -1, copy.bytes});
  return device_.wait_copied(copy.step);
}

// The launch time of a real device follows the declared launch.
void Trainer::add_launch(StepEvents& events, const Interval& launch) {
  Interval& whole = events.launch;
  if (!whole.ran()) whole = {launch.begin, launch.begin, 0, 0};
  whole.end = launch.end;
  whole.cpu += launch.cpu;
}

void Trainer::collect() {
  while (const auto times = device_.collect()) {
    StepEvents& events = waiting_.front();
    const Nanos copy_queued = events.copy.queued;
    events.copy = times->copy;
    events.copy.queued = std::clamp<Nanos>(copy_queued, 0, events.copy.wall());
    events.ready = times->ready;
    events.compute = times->compute;
    for (std::size_t i = 0; i < events.made_count; ++i) events.made.at(i).at = times->made.at(i);
    if (times->augment.ran()) events.add_trainer_task(Stage::gpu_augment, times->augment);
    if (times->launch.ran()) add_launch(events, times->launch);
    job_.put_step(rank_, events);
    waiting_.pop_front();
  }
}

}  // namespace loaderscope::native
