#include "engine/native/job_runner.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <limits>

#include "device/devices.h"
#include "loaderscope/errors.h"

namespace loaderscope::native {
namespace {

constexpr Nanos kLookEvery = 5 * kMillisecond;
constexpr Nanos kPatience = 5 * kSecond;  // with threads that are to end
constexpr std::size_t kRing = std::size_t{1} << 15;
constexpr std::int64_t kOwnThreads = 2;  // that fold, and that watch for standstills

struct AtEnd {
  std::atomic<bool>& ended;
  ~AtEnd() { ended.store(true, std::memory_order_release); }
};

std::vector<std::unique_ptr<Device>> make_devices(const RunConfig& config,
                                                  const EngineContext& context,
                                                  const std::atomic<int>& stop) {
  if (context.make_devices) return context.make_devices(config, stop);
  return device_row(config.trainer.device.value).make(config, stop);
}

std::unique_ptr<SharedMemory> shared_memory_for(const Plan& plan) {
  if (plan.config.loader.executor != Executor::processes) return nullptr;
  return std::make_unique<SharedMemory>();
}

std::vector<RankBinding> binding_for(const Plan& plan) {
  const Bind& bind = plan.config.loader.bind.value;
  if (bind.way == Bind::Way::none) return {};
  const char* const visible = std::getenv("CUDA_VISIBLE_DEVICES");
  return plan_binding(topology_to_bind_by(),
                      {bind, plan.ranks, plan.workers, visible == nullptr ? "" : visible});
}

}  // namespace

JobRunner::JobRunner(const Plan& plan, const EngineContext& context, MakerFactory makers,
                     SampleErrors& errors, bool writes_samples, SlotFiller fill_slot,
                     SampleNames name_of_sample)
    : plan_(plan),
      context_(context),
      errors_(errors),
      name_of_sample_(std::move(name_of_sample)),
      shared_(shared_memory_for(plan)),
      memory_(shared_ ? *shared_ : *std::pmr::get_default_resource()),
      stop_(place<std::atomic<int>>(memory_, 0)),
      recorder_(plan.fold_options(context.observer), kRing, memory_),
      job_(plan, context.time_stages ? &recorder_ : nullptr, std::move(makers), writes_samples,
           std::move(fill_slot), *stop_),
      progress_beat_(context) {
  job_.binding = binding_for(plan);
  for (std::int32_t index = 0; index < plan.ranks; ++index)
    shares_.push_back(std::make_unique<RankShare>(job_, index, memory_));
  if (shared_) {
    skipped_ = place<SampleErrors::Outbox>(memory_, SampleErrors::kUnderWay, memory_);
    errors_.share(*skipped_, *stop_);
    group_ = make_process_workers(job_, shares_, *shared_);
  } else {
    group_ = make_thread_workers(job_, shares_);
  }
  devices_ = make_devices(plan.config, context, job_.stop);
  trace::connect();
  for (std::size_t i = 0; i < shares_.size(); ++i) {
    auto trainer = std::make_unique<Trainer>(job_, *shares_[i], *group_, *devices_[i]);
    ranks_.push_back(std::make_unique<Rank>(shares_[i]->rank, std::move(trainer),
                                            WindowKeeper(plan.config, plan.burst())));
  }
}

JobRunner::~JobRunner() {
  stop_all();
  for (auto& rank : ranks_) {
    if (rank->thread.joinable()) rank->thread.join();
  }
}

void JobRunner::run() {
  try {
    run_window();
  } catch (...) {
    stopped_ = stop_all();
    throw;
  }
  stopped_ = stop_all();
  look();
  job_.rethrow();
}

void JobRunner::run_window() {
  last_step_at_ = monotonic_now();
  progress_beat_.begin();
  programs_before_.emplace("/", ::getpid());
  standstills_.emplace();
  at_begin_ = read_process_counters(group_->processes());  // of a window without a warm-up
  at_begin_known_ = true;
  show_window();
  for (auto& rank : ranks_) {
    rank->thread = job_.start([rank = rank.get()] {
      const AtEnd at_end{rank->thread_ended};
      rank->trainer->run();
    });
  }
  while (!all_done() && !interrupted_ && !others_have_ended() && job_.stop.load() == 0) {
    sleep_until(monotonic_now() + kLookEvery);
    look();
    watch_for_silence();
  }
}

void JobRunner::look() {
  group_->look();
  errors_.take_forwarded();
  // All steps of a rank whose input is over are among those taken below.
  for (auto& rank : ranks_) rank->input_over = rank->trainer->input_over();
  const Job::Reports& reports = job_.take_reports();
  for (const auto& [rank, at] : reports.first_asks) {
    ranks_[static_cast<std::size_t>(rank)]->window.first_ask(at);
    recorder_.first_ask(rank, at);
  }
  for (const auto& [rank, events] : reports.steps) {
    ranks_[static_cast<std::size_t>(rank)]->steps.push_back(events);
    // A long compute is no silence: the trainer waits for its end.
    last_step_at_ = std::max(monotonic_now(), events.compute.end);
  }
  fold_steps();
  watch_for_window();
  recorder_.drain();
  if (context_.stop_signal && context_.stop_signal->load(std::memory_order_relaxed) != 0)
    interrupted_ = true;
  memory_watch_.look([this] { return group_->processes(); });
  progress_beat_.look([this] { return progress(); });
}

// The window begins with the end of the last warm-up step, which is known to be the last only when
// the next one ends.
void JobRunner::watch_for_window() {
  const Rank& leader = *ranks_.front();
  if (leader.window_open || leader.folded == 0 || at_begin_known_) return;
  at_begin_ = read_process_counters(group_->processes());
  at_begin_known_ = true;
}

// To tools, as soon as it is known that the next step is measured.
void JobRunner::show_window() {
  const Rank& leader = *ranks_.front();
  if (leader.window_open || leader.window.measures(leader.folded)) shown_window_.begin();
}

void JobRunner::fold_steps() {
  if (context_.part.window) asked_window_ = context_.part.window();
  for (std::size_t i = 0; i < ranks_.size(); ++i) {
    Rank& rank = *ranks_[i];
    while (!rank.steps.empty() && may_fold(rank, rank.steps.front().step)) {
      fold(static_cast<std::int32_t>(i), rank.steps.front());
      rank.steps.pop_front();
    }
  }
  if (context_.part.tell_window) tell_window();
}

// With a barrier all ranks have the window of the job's first one: it decides about a step before
// the others.
bool JobRunner::may_fold(const Rank& rank, std::int64_t step) const {
  if (!follows(rank)) return true;
  const bool has_decided = !context_.part.window && ranks_.front()->done;
  return has_decided || step < window_to_follow().folded;
}

CommonWindow JobRunner::window_to_follow() const {
  if (context_.part.window) return asked_window_;
  const Rank& leader = *ranks_.front();
  return {leader.folded, leader.window.first_measured(), leader.window.ended()};
}

void JobRunner::tell_window() {
  const Rank& leader = *ranks_.front();
  const CommonWindow window{leader.folded, leader.window.first_measured(), leader.window.ended()};
  if (window.folded == told_window_.folded) return;
  told_window_ = window;
  context_.part.tell_window(window);
}

void JobRunner::fold(std::int32_t index, const StepEvents& events) {
  Rank& rank = *ranks_[static_cast<std::size_t>(index)];
  if (rank.done) return;
  const bool follows = this->follows(rank);
  StepEvents counted = events;
  counted.warmup = follows ? events.step < window_to_follow().first_measured
                           : rank.window.is_warmup(events.step, events.compute.end);
  if (!counted.warmup && !rank.window_open) {
    rank.window_open = true;
    if (index == 0) {
      if (!at_begin_known_) at_begin_ = read_process_counters(group_->processes());
      memory_watch_.restart();
    }
    rank.trainer->loader().read_stats();
  }
  if (counted.warmup && index == 0) at_begin_known_ = false;
  recorder_.step(index, counted);
  ++rank.folded;
  if (!counted.warmup) samples_ += events.samples;
  show_window();
  const CommonWindow window = window_to_follow();
  if (follows ? window.ended && rank.folded == window.folded : rank.window.ended()) end_rank(rank);
}

void JobRunner::end_rank(Rank& rank) {
  if (rank.done) return;
  rank.done = true;
  recorder_.close(rank.index);
  if (&rank == ranks_.front().get()) {
    shown_window_.end();
    at_end_ = read_process_counters(group_->processes());
    other_programs_ = OtherPrograms("/", ::getpid()).since(*programs_before_);
    loader_threads_ = kOwnThreads + job_.alive();
  }
  rank.queues = rank.trainer->loader().read_stats();
}

bool JobRunner::all_done() {
  bool done = true;
  for (auto& rank : ranks_) {
    if (rank->input_over && rank->steps.empty()) end_rank(*rank);
    done = done && rank->done;
  }
  return done;
}

bool JobRunner::others_have_ended() const {
  if (!context_.part.has_ended) return false;
  std::int64_t steps = std::numeric_limits<std::int64_t>::max();
  for (const auto& rank : ranks_) steps = std::min(steps, rank->folded);
  return context_.part.has_ended(steps);
}

Progress JobRunner::progress() const {
  Progress progress;
  progress.samples = samples_;
  progress.fraction = 1;
  for (const auto& rank : ranks_) {
    const Rank& leader = plan_.config.trainer.sync_ranks ? *ranks_.front() : *rank;
    progress.steps += leader.window.measured();
    progress.fraction = std::min(progress.fraction, leader.window.fraction());
  }
  return progress;
}

void JobRunner::watch_for_silence() {
  const Nanos allowed = plan_.config.measure.timeout;
  if (allowed == 0 || monotonic_now() - last_step_at_ < allowed) return;
  std::string workers;
  for (const auto& rank : ranks_) {
    workers +=
        (workers.empty() ? "" : "; ") + rank->trainer->loader().describe_workers(name_of_sample_);
  }
  throw RunError("no batch came for " + show_duration(allowed) + ": " + workers +
                 "; look at the storage behind it, or give a longer --timeout");
}

bool JobRunner::stop_all() {
  job_.stop.store(1);
  for (auto& device : devices_) device->cancel();
  for (auto& rank : ranks_) rank->trainer->loader().wake_trainer();
  Nanos until = monotonic_now() + kPatience;
  const auto in_time = [&until](const auto& have_ended) {
    while (!have_ended()) {
      if (monotonic_now() >= until) return false;
      sleep_until(monotonic_now() + kMillisecond);
    }
    return true;
  };
  if (!in_time([this] { return trainers_ended(); })) return false;
  for (auto& rank : ranks_) rank->trainer->loader().let_workers_end();
  const auto all_ended = [this] { return job_.alive() == 0 && group_->ended(); };
  if (in_time(all_ended)) return true;
  group_->kill();
  until = monotonic_now() + kPatience;
  return in_time(all_ended);
}

bool JobRunner::trainers_ended() const {
  return std::all_of(ranks_.begin(), ranks_.end(), [](const auto& rank) {
    return !rank->thread.joinable() || rank->thread_ended.load(std::memory_order_acquire);
  });
}

bool JobRunner::has_steps() const {
  return std::any_of(ranks_.begin(), ranks_.end(),
                     [](const auto& rank) { return rank->folded > 0; });
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

std::vector<Metric> JobRunner::process_metrics(const RankRecord& first) const {
  if (!ranks_.front()->window_open) return {};
  std::vector<Metric> metrics = loaderscope::process_metrics(at_begin_, at_end_, memory_watch_);
  metrics.push_back({"process.loader_threads", "1", "of them, those of the loader and its trainers",
                     static_cast<double>(loader_threads_)});
  const Nanos still = standstills_->within(first.window_begin, first.window_end);
  metrics.push_back({"host.standstill_s", "s",
                     "of the window, this whole process was stopped or the machine was",
                     seconds(still)});
  return metrics;
}

Bytes JobRunner::locked_bytes() const {
  Bytes locked = 0;
  for (const auto& rank : ranks_) locked += rank->trainer->loader().locked_bytes();
  return locked;
}

std::string JobRunner::memory_fallback() const {
  for (const auto& rank : ranks_) {
    std::string fallback = rank->trainer->loader().memory_fallback();
    if (!fallback.empty()) return fallback;
  }
  return "";
}

std::vector<std::int64_t> JobRunner::streamed_samples() const {
  std::vector<std::int64_t> samples;
  for (const auto& rank : ranks_) samples.push_back(rank->trainer->streamed_samples());
  return samples;
}

DeviceFacts JobRunner::device_facts() const {
  DeviceFacts all;
  for (const auto& device : devices_) {
    DeviceFacts facts = device->facts();
    std::move(facts.notes.begin(), facts.notes.end(), std::back_inserter(all.notes));
    std::move(facts.metrics.begin(), facts.metrics.end(), std::back_inserter(all.metrics));
  }
  return all;
}

}  // namespace loaderscope::native
