#include "engine/native/job_runner.h"

#include <algorithm>

#include "device/devices.h"
#include "loaderscope/errors.h"

namespace loaderscope::native {
namespace {

constexpr Nanos kLookEvery = 5 * kMillisecond;
constexpr std::size_t kRing = std::size_t{1} << 15;

FoldOptions fold_options(const Plan& plan) {
  FoldOptions options;
  options.ranks = plan.ranks;
  options.workers = plan.workers;
  options.in_order = plan.in_order;
  options.sync_ranks = plan.config.sync_ranks;
  options.seed = static_cast<std::uint64_t>(plan.config.seed.value);
  return options;
}

std::int64_t burst_of(const Plan& plan) {
  return plan.sample_tasks || plan.made_by_trainer ? 1 : plan.workers;
}

}  // namespace

JobRunner::JobRunner(const Plan& plan, const EngineContext& context, MakerFactory makers,
                     bool writes_samples)
    : plan_(plan),
      context_(context),
      recorder_(fold_options(plan), kRing),
      job_(plan, &recorder_, std::move(makers), writes_samples),
      devices_(find_row<DeviceRow>(plan.config.device.value, device_table())
                   .make(plan.config, job_.stop)) {
  for (std::int32_t index = 0; index < plan.ranks; ++index) {
    auto trainer =
        std::make_unique<Trainer>(job_, index, *devices_[static_cast<std::size_t>(index)]);
    ranks_.push_back(std::unique_ptr<Rank>(new Rank{std::move(trainer),
                                                    WindowKeeper(plan.config, burst_of(plan)),
                                                    {},
                                                    {},
                                                    false,
                                                    false,
                                                    false,
                                                    0,
                                                    {}}));
  }
}

JobRunner::~JobRunner() { stop_threads(); }

void JobRunner::run() {
  last_step_at_ = last_progress_ = monotonic_now();
  for (auto& rank : ranks_) {
    rank->thread = std::thread([trainer = rank->trainer.get()] { trainer->run(); });
  }
  while (!all_done() && !interrupted_ && job_.stop.load() == 0) {
    sleep_until(monotonic_now() + kLookEvery);
    look();
  }
  stop_threads();
  look();
  job_.rethrow();
}

void JobRunner::look() {
  for (std::size_t i = 0; i < ranks_.size(); ++i) {
    Rank& rank = *ranks_[i];
    const Nanos first = rank.trainer->first_ask();
    if (rank.first_asked || first == kNever) continue;
    rank.first_asked = true;
    rank.window.first_ask(first);
    recorder_.first_ask(static_cast<std::int32_t>(i), first);
  }
  for (const auto& [rank, events] : job_.take_steps()) {
    ranks_[static_cast<std::size_t>(rank)]->steps.push_back(events);
    last_step_at_ = monotonic_now();
  }
  fold_steps();
  recorder_.drain();
  if (context_.stop_signal && context_.stop_signal->load(std::memory_order_relaxed) != 0)
    interrupted_ = true;
  memory_.look();
  report_progress();
  watch_for_silence();
}

void JobRunner::fold_steps() {
  Rank& leader = *ranks_.front();
  for (std::size_t i = 0; i < ranks_.size(); ++i) {
    Rank& rank = *ranks_[i];
    while (!rank.steps.empty()) {
      // With a barrier all ranks have the window of the first one: it decides about a step before
      // the others.
      const bool follows = plan_.config.sync_ranks && &rank != &leader;
      if (follows && !leader.done && rank.steps.front().step >= leader.folded) break;
      fold(static_cast<std::int32_t>(i), rank.steps.front());
      rank.steps.pop_front();
    }
  }
}

void JobRunner::fold(std::int32_t index, const StepEvents& events) {
  Rank& rank = *ranks_[static_cast<std::size_t>(index)];
  if (rank.done) return;
  Rank& leader = plan_.config.sync_ranks ? *ranks_.front() : rank;
  StepEvents counted = events;
  counted.warmup = &leader == &rank ? rank.window.is_warmup(events.step, events.compute.end)
                                    : events.step < leader.window.first_measured();
  if (!counted.warmup && !rank.window_open) {
    rank.window_open = true;
    if (index == 0) {
      at_begin_ = read_process_counters();
      memory_.restart();
    }
    rank.trainer->loader().read_stats();
  }
  recorder_.step(index, counted);
  ++rank.folded;
  if (!counted.warmup) samples_ += events.samples;
  if (leader.window.ended() && rank.folded == leader.folded) end_rank(rank);
}

void JobRunner::end_rank(Rank& rank) {
  if (rank.done) return;
  rank.done = true;
  if (&rank == ranks_.front().get()) at_end_ = read_process_counters();
  rank.queues = rank.trainer->loader().read_stats();
}

bool JobRunner::all_done() {
  bool done = true;
  for (auto& rank : ranks_) {
    if (rank->trainer->input_over() && rank->steps.empty()) end_rank(*rank);
    done = done && rank->done;
  }
  return done;
}

void JobRunner::report_progress() {
  const Nanos now = monotonic_now();
  if (!context_.on_progress || now - last_progress_ < 200 * kMillisecond) return;
  last_progress_ = now;
  Progress progress;
  progress.samples = samples_;
  progress.fraction = 1;
  for (const auto& rank : ranks_) {
    const Rank& leader = plan_.config.sync_ranks ? *ranks_.front() : *rank;
    progress.steps += leader.window.measured();
    progress.fraction = std::min(progress.fraction, leader.window.fraction());
  }
  context_.on_progress(progress);
}

void JobRunner::watch_for_silence() {
  const Nanos allowed = plan_.config.timeout;
  if (allowed == 0 || monotonic_now() - last_step_at_ < allowed) return;
  std::string workers;
  for (const auto& rank : ranks_) {
    workers += (workers.empty() ? "" : "; ") + rank->trainer->loader().describe_workers();
  }
  throw NothingComes("no batch came for " + show_duration(allowed) + ": " + workers +
                     "; look at the storage behind it, or give a longer --timeout");
}

void JobRunner::stop_threads() {
  job_.stop.store(1);
  for (auto& rank : ranks_) rank->trainer->loader().wake_trainer();
  for (auto& rank : ranks_) {
    if (rank->thread.joinable()) rank->thread.join();
    rank->trainer->loader().stop();
  }
}

bool JobRunner::input_ended_in_warmup() const {
  return std::any_of(ranks_.begin(), ranks_.end(),
                     [](const auto& rank) { return rank->folded > 0 && !rank->window_open; });
}

std::vector<RankRecord> JobRunner::finish() {
  std::vector<RankRecord> records = recorder_.finish();
  for (std::size_t i = 0; i < records.size(); ++i) {
    Rank& rank = *ranks_[i];
    end_rank(rank);
    records[i].queues = rank.queues;
  }
  return records;
}

std::vector<Metric> JobRunner::process_metrics() const {
  if (!ranks_.front()->window_open) return {};
  return loaderscope::process_metrics(at_begin_, at_end_, memory_);
}

Bytes JobRunner::locked_bytes() const {
  Bytes locked = 0;
  for (const auto& rank : ranks_) locked += rank->trainer->loader().locked_bytes();
  return locked;
}

std::string JobRunner::memory_fallback() const {
  return ranks_.front()->trainer->loader().memory_fallback();
}

}  // namespace loaderscope::native
