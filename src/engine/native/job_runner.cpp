#include "engine/native/job_runner.h"

#include <algorithm>
#include <cstdlib>
#include <iterator>

#include "device/devices.h"
#include "engine/native/memory_need.h"
#include "record/partial_run.h"

namespace loaderscope::native {
namespace {

constexpr Nanos kLookEvery = 5 * kMillisecond;

struct AtEnd {
  std::atomic<bool>& ended;
  ~AtEnd() { ended.store(true, std::memory_order_release); }
};

std::vector<std::unique_ptr<Device>> make_devices(const RunConfig& config,
                                                  const RunContext& context,
                                                  const std::atomic<int>& stop) {
  if (context.native.make_devices) return context.native.make_devices(config, stop);
  return device_row(config.trainer.device.value).make(config, stop);
}

std::unique_ptr<SharedMemory> shared_memory_for(const LoaderPlan& plan) {
  if (plan.config.loader.executor != Executor::processes) return nullptr;
  return std::make_unique<SharedMemory>();
}

std::vector<RankBinding> binding_for(const LoaderPlan& plan) {
  const Bind& bind = plan.config.loader.bind.value;
  if (bind.way == Bind::Way::none) return {};
  const char* const visible = std::getenv("CUDA_VISIBLE_DEVICES");
  return plan_binding(topology_to_bind_by(),
                      {bind, plan.ranks, plan.workers, visible == nullptr ? "" : visible});
}

}  // namespace

JobRunner::JobRunner(const LoaderPlan& plan, const RunContext& context, MakerFactory makers,
                     SampleErrors& errors, bool writes_samples, SlotFiller fill_slot,
                     SampleNames name_of_sample)
    : plan_(plan),
      context_(context),
      errors_(errors),
      name_of_sample_(std::move(name_of_sample)),
      shared_(shared_memory_for(plan)),
      memory_(shared_ ? *shared_ : *std::pmr::get_default_resource()),
      stop_(place<std::atomic<int>>(memory_, 0)),
      recorder_(plan.fold_options(context.observer), log_entries(plan), memory_),
      job_(plan, context.native.time_stages ? &recorder_ : nullptr, std::move(makers),
           writes_samples, std::move(fill_slot), *stop_),
      processes_([this] { return group_->processes(); }),
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
  nvtx::connect();
  for (std::size_t i = 0; i < shares_.size(); ++i) {
    auto trainer = std::make_unique<Trainer>(job_, *shares_[i], *group_, *devices_[i]);
    ranks_.push_back(std::make_unique<Rank>(shares_[i]->rank, std::move(trainer),
                                            MeasurementWindow(plan.config, plan.burst())));
  }
}

bool JobRunner::is_asked_to_stop() const {
  return context_.stop_signal && context_.stop_signal->load(std::memory_order_relaxed) != 0;
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
  processes_.run_begins();
  format_window();
  for (auto& rank : ranks_) {
    if (is_asked_to_stop()) break;  // thousands of threads take long to start
    rank->thread = job_.start([rank = rank.get()] {
      const AtEnd at_end{rank->thread_ended};
      rank->trainer->run();
    });
  }
  interrupted_ = is_asked_to_stop();
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
  const Rank& leader = *ranks_.front();
  if (!leader.window_open && leader.folded > 0) processes_.may_begin();
  recorder_.drain();
  if (is_asked_to_stop()) interrupted_ = true;
  processes_.look();
  progress_beat_.look([this] { return progress(); });
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
  throw RunError(std::string(kNoBatchCame) + format_duration(allowed) + ": " + workers,
                 "look at its storage, or give a longer --timeout");
}

// The end of a job: its threads and processes end, and its record is filled.

namespace {

constexpr Nanos kAnswerTimeout = 5 * kSecond;  // limit for threads that must end

}  // namespace

bool JobRunner::stop_all() {
  job_.stop.store(1);
  for (auto& device : devices_) device->cancel();
  for (auto& rank : ranks_) rank->trainer->loader().wake_trainer();
  Nanos until = monotonic_now() + kAnswerTimeout;
  const auto happens_in_time = [&until](const auto& have_ended) {
    while (!have_ended()) {
      if (monotonic_now() >= until) return false;
      sleep_until(monotonic_now() + kMillisecond);
    }
    return true;
  };
  if (!happens_in_time([this] { return trainers_ended(); })) return false;
  for (auto& rank : ranks_) rank->trainer->loader().stop_workers();
  const auto all_ended = [this] { return job_.alive() == 0 && group_->ended(); };
  if (!happens_in_time(all_ended)) {
    group_->kill();
    until = monotonic_now() + kAnswerTimeout;
    if (!happens_in_time(all_ended)) return false;
  }
  if (std::all_of(devices_.begin(), devices_.end(), [](auto& device) { return device->end(); }))
    return true;
  // The run stays where it is, and only its threads end.
  for (auto& rank : ranks_) {
    if (rank->thread.joinable()) rank->thread.join();
    rank->trainer->loader().join();
  }
  return false;
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
  return processes_.metrics(first);
}

Bytes JobRunner::locked_bytes() const {
  Bytes locked = 0;
  for (const auto& rank : ranks_) locked += rank->trainer->loader().locked_bytes();
  return locked;
}

Nanos JobRunner::keeping_time() const {
  Nanos time = 0;
  for (const auto& rank : ranks_) time += rank->trainer->loader().keeping_time();
  return time;
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
