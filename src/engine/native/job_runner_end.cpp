// The end of a job: its threads and processes end, and its record is filled.
#include <algorithm>
#include <iterator>

#include "engine/native/job_runner.h"

namespace loaderscope::native {
namespace {

constexpr Nanos kAnswerTimeout = 5 * kSecond;  // limit for threads that must end

}  // namespace

bool JobRunner::stop_all() {
  job_.stop.store(1);
  for (auto& device : devices_) device->cancel();
  for (auto& rank : ranks_) rank->trainer->loader().wake_trainer();
  Nanos until = monotonic_now() + kAnswerTimeout;
  const auto in_time = [&until](const auto& have_ended) {
    while (!have_ended()) {
      if (monotonic_now() >= until) return false;
      sleep_until(monotonic_now() + kMillisecond);
    }
    return true;
  };
  if (!in_time([this] { return trainers_ended(); })) return false;
  for (auto& rank : ranks_) rank->trainer->loader().stop_workers();
  const auto all_ended = [this] { return job_.alive() == 0 && group_->ended(); };
  if (in_time(all_ended)) return true;
  group_->kill();
  until = monotonic_now() + kAnswerTimeout;
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
  return processes_.metrics(first);
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
