#include "engine/model/simulation.h"

#include <algorithm>
#include <utility>

#include "loaderscope/errors.h"

namespace loaderscope::model {
namespace {

// Steps of each rank per round. The number is large enough to use the caches. It is small enough
// that all ranks have made about the same progress when the user interrupts.
constexpr std::int64_t kStepsOfRound = 16;

FoldOptions fold_options(const LoaderPlan& plan, const RunContext& context) {
  FoldOptions options = plan.fold_options(context.observer);
  options.only_account = context.model.only_account;
  return options;
}

}  // namespace

Simulation::Simulation(const LoaderPlan& plan, const RunContext& context)
    : plan_(plan),
      context_(context),
      groups_(groups_of_ranks(plan)),
      folder_(fold_options(plan, context)),
      progress_beat_(context) {
  for (RankGroup& group : groups_) {
    for (std::int32_t rank = group.first_rank; rank < group.first_rank + group.ranks; ++rank) {
      auto trainer = std::make_unique<ModelTrainer>(
          plan, group.world, folder_, rank, [this, rank](Nanos at) { ready(rank, at); },
          [this, rank](StepEvents& events) { step_done(rank, events); });
      ranks_.push_back({&group, std::move(trainer), MeasurementWindow(plan.config, plan.burst())});
    }
  }
  at_barrier_.resize(ranks_.size());
  progress_beat_.begin();
}

void Simulation::run() {
  for (Rank& rank : ranks_) rank.trainer->start();
  while (!all_done()) {
    const std::optional<Barrier> barrier = this->barrier();
    if (barrier) begin_release(*barrier);
    bool happened = barrier.has_value();
    for (RankGroup& group : groups_) {
      release(group);
      if (interrupted_ || group.is_done()) continue;
      if (run_round(group)) happened = true;
    }
    if (interrupted_) return;
    if (!happened)
      throw RunError("model: nothing happens any more before the window is over",
                     "please report this");
  }
}

bool Simulation::all_done() const {
  return std::all_of(groups_.begin(), groups_.end(),
                     [](const RankGroup& group) { return group.is_done(); });
}

bool Simulation::round_is_over(const RankGroup& group) const {
  if (group.is_done()) return true;
  return plan_.config.trainer.sync_ranks ? group.at_barrier == group.ranks
                                         : group.steps >= kStepsOfRound * group.ranks;
}

bool Simulation::run_round(RankGroup& group) {
  group.steps = 0;
  bool happened = false;
  std::uint64_t who = 0;
  while (!round_is_over(group) && group.world.next(who)) {
    happened = true;
    wake(who);
    if ((++events_ & 0xfff) == 0) look_outside();
    if (interrupted_) break;
  }
  return happened;
}

std::optional<Simulation::Barrier> Simulation::barrier() const {
  const bool all_wait = std::all_of(groups_.begin(), groups_.end(), [](const RankGroup& group) {
    return group.at_barrier == group.ranks;
  });
  if (!all_wait) return std::nullopt;
  const auto last = std::max_element(at_barrier_.begin(), at_barrier_.end());
  return Barrier{*last, static_cast<std::int32_t>(last - at_barrier_.begin())};
}

// The first rank has the window of all. What the last one waited for is known next, so that the
// step of each of the others is folded while the rank is in the caches.
void Simulation::begin_release(const Barrier& barrier) {
  resume_time_ = barrier.at;
  for (RankGroup& group : groups_) group.held = true;
  folder_.all_wait_for(barrier.last);
  release(groups_.front());
  release(*ranks_[static_cast<std::size_t>(barrier.last)].group);
}

void Simulation::release(RankGroup& group) {
  if (!group.held) return;
  group.held = false;
  group.at_barrier = 0;
  if (group.is_done()) return;
  for (std::int32_t rank = group.first_rank; rank < group.first_rank + group.ranks; ++rank)
    ranks_[static_cast<std::size_t>(rank)].trainer->begin_compute(resume_time_);
}

void Simulation::wake(std::uint64_t packed) {
  const ActorId who = unpack(packed);
  ModelTrainer& trainer = *ranks_[static_cast<std::size_t>(who.rank)].trainer;
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

void Simulation::ready(std::int32_t index, Nanos at) {
  const Rank& rank = ranks_[static_cast<std::size_t>(index)];
  if (!plan_.config.trainer.sync_ranks) {
    rank.trainer->begin_compute(at);
    return;
  }
  at_barrier_[static_cast<std::size_t>(index)] = at;
  ++rank.group->at_barrier;
}

// With a barrier, a step of the first rank is folded before the same step of the others: it decides
// about the window of all.
void Simulation::step_done(std::int32_t index, StepEvents& events) {
  Rank& rank = ranks_[static_cast<std::size_t>(index)];
  const bool is_leader = index == 0 || !plan_.config.trainer.sync_ranks;
  ++rank.reported;
  if (!is_leader && rank.reported > ranks_.front().reported) {
    rank.early = events;
    return;
  }
  fold_step(index, events);
  if (!is_leader || !plan_.config.trainer.sync_ranks) return;
  for (std::size_t other = 1; other < ranks_.size(); ++other)
    if (auto early = std::exchange(ranks_[other].early, std::nullopt))
      fold_step(static_cast<std::int32_t>(other), *early);
}

void Simulation::fold_step(std::int32_t index, StepEvents& events) {
  Rank& rank = ranks_[static_cast<std::size_t>(index)];
  ++rank.group->steps;
  watch_for_standstill(*rank.group, rank.done);
  if (rank.done) return;
  // With a barrier, all ranks share the window of the first rank, because their steps belong
  // together.
  Rank& leader = plan_.config.trainer.sync_ranks ? ranks_.front() : rank;
  if (&leader == &rank && rank.folded == 0) rank.window.first_ask(0);
  events.warmup = &leader == &rank ? rank.window.is_warmup(events.step, events.compute.end)
                                   : !leader.window_open;
  if (!events.warmup && !rank.window_open) {
    rank.window_open = true;
    rank.get_wait = 0;
    rank.trainer->read_queue();
  }
  rank.get_wait += events.take - events.ask;
  folder_.step(index, events);
  ++rank.folded;
  if (!events.warmup) samples_ += events.samples;
  if (leader.window.ended()) end_rank(index);
  end_if_exhausted(index);
}

void Simulation::end_rank(std::int32_t index) {
  Rank& rank = ranks_[static_cast<std::size_t>(index)];
  if (rank.done) return;
  folder_.close(index);
  rank.done = true;
  rank.queue = rank.trainer->read_queue();
  ++rank.group->done;
}

// No step will come any more. Known when the trainer has nothing left to do and its last step has
// been reported.
void Simulation::end_if_exhausted(std::int32_t index) {
  const Rank& rank = ranks_[static_cast<std::size_t>(index)];
  if (!rank.early && rank.trainer->exhausted()) end_rank(index);
}

// Steps that take no time at all would never fill a window by duration, nor let the other ranks of
// the group end theirs.
void Simulation::watch_for_standstill(RankGroup& group, bool window_over) const {
  constexpr std::int64_t kTooMany = 200'000;  // more than can be in flight
  if (group.world.now() != group.time_of_last_step) {
    group.time_of_last_step = group.world.now();
    group.steps_since_time_moved = 0;
    return;
  }
  const bool will_end = plan_.config.measure.steps > 0 && !window_over;
  if (++group.steps_since_time_moved < kTooMany * group.ranks || will_end) return;
  if (window_over)
    throw UsageError("the steps of a rank take no time, so the other ranks never end",
                     "give --cost to a stage or give --compute");
  throw UsageError("nothing in a step takes any time, so the window of " +
                       duration_to_text(plan_.config.measure.duration) + " never ends",
                   "give --cost to a stage, give --compute, or give --steps");
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

// With a barrier a step is folded once the last rank has made it, too.
bool Simulation::has_steps() const {
  if (plan_.config.trainer.sync_ranks) return ranks_.back().folded > 0;
  return std::any_of(ranks_.begin(), ranks_.end(),
                     [](const Rank& rank) { return rank.folded > 0; });
}

bool Simulation::input_ended_in_warmup() const {
  const auto is_warming_up = [](const Rank& rank) { return rank.folded > 0 && !rank.window_open; };
  if (plan_.config.trainer.sync_ranks) return is_warming_up(ranks_.back());
  return std::any_of(ranks_.begin(), ranks_.end(), is_warming_up);
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

namespace {

// Returns true if two neighbours share only the barrier.
bool are_apart(const LoaderPlan& plan, std::int32_t rank, std::int32_t next) {
  if (plan.storage.shared || plan.cores.decodes_remotely) return false;
  return plan.cores.exclusive || plan.host_index(rank) != plan.host_index(next);
}

}  // namespace

RankGroup::RankGroup(const LoaderPlan& plan, std::int32_t first, std::int32_t end)
    : world(plan, plan.host_index(first), plan.host_index(end - 1) + 1),
      first_rank(first),
      ranks(end - first) {}

std::vector<RankGroup> groups_of_ranks(const LoaderPlan& plan) {
  std::vector<RankGroup> groups;
  std::int32_t first = 0;
  for (std::int32_t end = 1; end <= plan.ranks; ++end) {
    if (end < plan.ranks && !are_apart(plan, end - 1, end)) continue;
    groups.emplace_back(plan, first, end);
    first = end;
  }
  return groups;
}

}  // namespace loaderscope::model
