#include "engine/model/simulation.h"

#include <algorithm>

#include "loaderscope/errors.h"

namespace loaderscope::model {
Simulation::Simulation(const Plan& plan, const EngineContext& context)
    : plan_(plan),
      context_(context),
      world_(plan),
      folder_(plan.fold_options(context.observer)),
      progress_beat_(context) {
  for (std::int32_t rank = 0; rank < plan.ranks; ++rank) {
    auto trainer = std::make_unique<Trainer>(
        plan, world_, folder_, rank, [this, rank](Nanos at) { ready(rank, at); },
        [this, rank](const StepEvents& events) { step_done(rank, events); });
    ranks_.push_back(
        {std::move(trainer), WindowKeeper(plan.config, plan.burst()), 0, false, false, 0, {}});
  }
  at_barrier_.resize(ranks_.size());
  progress_beat_.begin();
}

void Simulation::run() {
  for (Rank& rank : ranks_) rank.trainer->start();
  std::uint64_t who = 0;
  for (std::int64_t events = 1; !all_done() && world_.next(who); ++events) {
    wake(who);
    if ((events & 0xfff) == 0) look_outside();
    if (interrupted_) return;
  }
  if (!all_done())
    throw RunError("model: nothing happens any more before the window is over; please report this");
}

void Simulation::wake(std::uint64_t packed) {
  const Who who = unpack(packed);
  Trainer& trainer = *ranks_[static_cast<std::size_t>(who.rank)].trainer;
  switch (who.role) {
    case Role::worker:
      trainer.loader().wake_worker(who.index);
      return;
    case Role::feeder:
      trainer.loader().wake_feeder(who.index);
      return;
    case Role::pin_thread:
      trainer.loader().wake_pin_thread();
      return;
    case Role::trainer:
      trainer.wake();
      end_if_exhausted(who.rank);
      return;
    case Role::compute:
      trainer.wake_compute();
      return;
  }
}

void Simulation::ready(std::int32_t rank, Nanos at) {
  if (!plan_.config.trainer.sync_ranks) {
    ranks_[static_cast<std::size_t>(rank)].trainer->begin_compute(at);
    return;
  }
  at_barrier_[static_cast<std::size_t>(rank)] = at;
  if (++waiting_at_barrier_ < plan_.ranks) return;
  waiting_at_barrier_ = 0;
  const Nanos begin = *std::max_element(at_barrier_.begin(), at_barrier_.end());
  for (Rank& each : ranks_) each.trainer->begin_compute(begin);
}

void Simulation::step_done(std::int32_t index, const StepEvents& events) {
  Rank& rank = ranks_[static_cast<std::size_t>(index)];
  watch_for_standstill(rank.done);
  if (rank.done) return;
  // With a barrier all ranks have the window of the first one: their steps belong together.
  Rank& leader = plan_.config.trainer.sync_ranks ? ranks_.front() : rank;
  if (&leader == &rank && rank.folded == 0) rank.window.first_ask(0);
  StepEvents counted = events;
  counted.warmup = &leader == &rank ? rank.window.is_warmup(events.step, events.compute.end)
                                    : !leader.window_open;
  if (!counted.warmup && !rank.window_open) {
    rank.window_open = true;
    rank.get_wait = 0;
    rank.trainer->read_queue();
  }
  rank.get_wait += events.take - events.ask;
  folder_.step(index, counted);
  ++rank.folded;
  if (!counted.warmup) samples_ += events.samples;
  if (leader.window.ended()) end_rank(index);
  end_if_exhausted(index);
}

void Simulation::end_rank(std::int32_t index) {
  Rank& rank = ranks_[static_cast<std::size_t>(index)];
  if (rank.done) return;
  folder_.close(index);
  rank.done = true;
  rank.queue = rank.trainer->read_queue();
  ++ranks_done_;
}

// No step will come any more. Known when the trainer has nothing left to do and its last step has
// been reported.
void Simulation::end_if_exhausted(std::int32_t rank) {
  if (ranks_[static_cast<std::size_t>(rank)].trainer->exhausted()) end_rank(rank);
}

// Steps that take no time at all would never fill a window by duration, nor let the other ranks end
// theirs.
void Simulation::watch_for_standstill(bool window_over) {
  constexpr std::int64_t kTooMany = 200'000;  // more than can be in flight
  if (world_.now() != time_of_last_step_) {
    time_of_last_step_ = world_.now();
    steps_since_time_moved_ = 0;
    return;
  }
  const bool will_end = plan_.config.measure.steps > 0 && !window_over;
  if (++steps_since_time_moved_ < kTooMany * plan_.ranks || will_end) return;
  throw UsageError(
      window_over ? "the steps of a rank take no time, so the other ranks never end; give --cost "
                    "to a stage or "
                    "give --compute"
                  : "nothing in a step takes any time, so the window of " +
                        spell_duration(plan_.config.measure.duration) +
                        " never ends; give --cost to a stage, give --compute, or give --steps");
}

void Simulation::look_outside() {
  if (context_.stop_signal && context_.stop_signal->load(std::memory_order_relaxed) != 0)
    interrupted_ = true;
  progress_beat_.look([this] { return progress(); });
}

Progress Simulation::progress() const {
  Progress progress;
  progress.samples = samples_;
  progress.fraction = 1;
  for (const Rank& rank : ranks_) {
    const Rank& leader = plan_.config.trainer.sync_ranks ? ranks_.front() : rank;
    progress.steps += leader.window.measured();
    progress.fraction = std::min(progress.fraction, leader.window.fraction());
  }
  return progress;
}

bool Simulation::has_steps() const {
  return std::any_of(ranks_.begin(), ranks_.end(),
                     [](const Rank& rank) { return rank.folded > 0; });
}

bool Simulation::input_ended_in_warmup() const {
  return std::any_of(ranks_.begin(), ranks_.end(),
                     [](const Rank& rank) { return rank.folded > 0 && !rank.window_open; });
}

std::vector<RankRecord> Simulation::finish() {
  std::vector<RankRecord> records = folder_.finish();
  for (std::size_t i = 0; i < records.size(); ++i) {
    if (!ranks_[i].done) ranks_[i].queue = ranks_[i].trainer->read_queue();
    ranks_[i].queue.get_wait = ranks_[i].get_wait;
    records[i].queues.push_back(ranks_[i].queue);
  }
  return records;
}

}  // namespace loaderscope::model
