#include "watch/watch_metrics.h"

#include <algorithm>
#include <cmath>

#include "base/printable.h"
#include "base/python_script.h"
#include "watch/roles.h"

namespace loaderscope::watch {
namespace {

using monitor::LiveLabels;
using monitor::LiveMetric;
using monitor::LiveSamples;

// Returns the name of a script or a program without its folder and its arguments, which may hold
// secrets: "train.py", "torchrun".
std::string short_program(const std::string& command) {
  const std::vector<std::string_view> words = split(command, ' ');
  auto word = find_python_script(words);
  if (word == words.end())
    word = std::find_if(words.begin(), words.end(), [](const auto& one) { return !one.empty(); });
  return word == words.end() ? "" : std::string(word->substr(word->rfind('/') + 1));
}

void add_label(LiveLabels& labels, const char* name, std::string_view value) {
  if (!value.empty()) labels.emplace_back(name, monitor::label_text(value));
}

// The kernel counts hundredths of a second. A sum must not depend on the order of its parts: a
// counter that falls by one bit counts as one that began again.
double steady_seconds(double s) { return std::round(s * 1000) / 1000; }

LiveLabels rank_label(std::int64_t rank) { return {{"rank", std::to_string(rank)}}; }

// Sums over the running processes of one rank.
struct RankState {
  std::int64_t workers = 0;
  double worker_bytes = 0, trainer_bytes = 0;
  bool has_trainer = false;
};

std::map<std::int64_t, RankState> rank_states(const Watch& watch) {
  std::map<std::int64_t, RankState> ranks;
  for (const WatchedProcess& process : watch.processes) {
    if (process.has_ended || process.role == Role::other) continue;
    RankState& rank = ranks[process.rank];
    if (process.role == Role::trainer) {
      rank.has_trainer = true;
      rank.trainer_bytes += process.private_bytes;
    } else {
      ++rank.workers;
      rank.worker_bytes += process.private_bytes;
    }
  }
  return ranks;
}

void add_ranks(const Watch& watch, LiveSamples& samples) {
  for (const auto& [rank, state] : rank_states(watch)) {
    const LiveLabels label = rank_label(rank);
    samples.add(LiveMetric::workers, static_cast<double>(state.workers), label);
    if (state.worker_bytes > 0) samples.add(LiveMetric::worker_memory, state.worker_bytes, label);
    if (state.trainer_bytes > 0)
      samples.add(LiveMetric::trainer_memory, state.trainer_bytes, label);
  }
  for (const auto& [rank, used] : watch.counters) {
    const LiveLabels label = rank_label(rank);
    samples.add(LiveMetric::worker_cpu, steady_seconds(used.worker_cpu_s), label);
    samples.add(LiveMetric::trainer_cpu, steady_seconds(used.trainer_cpu_s), label);
    if (used.worker_read) samples.add(LiveMetric::worker_read, *used.worker_read, label);
    if (used.worker_storage)
      samples.add(LiveMetric::worker_storage_read, *used.worker_storage, label);
  }
}

// Without a GPU of the job, all GPUs of the machine are listed: a container may hide the processes.
void add_gpus(const Watch& watch, LiveSamples& samples) {
  const bool has_own = std::any_of(watch.gpus.begin(), watch.gpus.end(),
                                   [](const WatchedGpu& gpu) { return gpu.is_of_job; });
  for (std::size_t i = 0; i < watch.gpus.size(); ++i) {
    const WatchedGpu& gpu = watch.gpus[i];
    if (has_own && !gpu.is_of_job) continue;
    const LiveLabels labels = {{"gpu", std::to_string(i)}, {"name", monitor::label_text(gpu.name)}};
    samples.add(LiveMetric::gpu_busy, gpu.busy_now, labels);
    samples.add(LiveMetric::gpu_memory_used, gpu.memory_now, labels);
    samples.add(LiveMetric::gpu_memory_size, gpu.memory, labels);
  }
}

void add_machine(const Watch& watch, LiveSamples& samples) {
  const WatchedMachine& machine = watch.machine;
  samples.add(LiveMetric::available_cores, machine.cores);
  const bool is_load_known = machine.busy_cores > 0;
  if (is_load_known) {
    samples.add(LiveMetric::busy_cores, machine.busy_cores);
    samples.add(LiveMetric::other_cores, machine.other_cores);
  }
  if (machine.throttled) samples.add(LiveMetric::throttled, *machine.throttled);
  if (machine.shm_size > 0) {
    samples.add(LiveMetric::shared_memory_used, machine.shm_used);
    samples.add(LiveMetric::shared_memory_size, machine.shm_size);
  }
}

}  // namespace

LiveLabels job_labels(const Watch& watch, const JobIdentity& identity, const std::string& host) {
  const bool is_pytorch =
      std::any_of(watch.processes.begin(), watch.processes.end(),
                  [](const WatchedProcess& one) { return one.name == kWorkerName; });
  LiveLabels labels;
  add_label(labels, "host", host);
  add_label(labels, "program", short_program(watch.program));
  add_label(labels, "framework", is_pytorch ? "pytorch" : "");
  add_label(labels, "namespace", identity.space);
  add_label(labels, "pod", identity.pod);
  add_label(labels, "pod_uid", identity.path.pod_uid);
  add_label(labels, "container_id", identity.path.container_id);
  add_label(labels, "job_name", identity.job_name);
  add_label(labels, "job_id", identity.path.slurm_job);
  return labels;
}

void add_process_metrics(const Watch& watch, LiveSamples& samples) {
  add_ranks(watch, samples);
  add_gpus(watch, samples);
  add_machine(watch, samples);
  samples.add(LiveMetric::own_cpu, watch.own_cpu);
}

void add_activity_metrics(const Watch& recent, LiveSamples& samples) {
  samples.add_states(LiveMetric::limit, limit_names(), name_of(recent.limit));
  for (const WatchedProcess& process : recent.processes) {
    if (process.role != Role::trainer || process.has_ended || !recent.waits.is_known) continue;
    samples.add(LiveMetric::trainer_waiting, process.shares.activity_share(ThreadActivity::queue),
                rank_label(process.rank));
  }
  if (recent.workers_watched_s <= 0) return;
  for (std::size_t i = 0; i < kDoings; ++i) {
    const DoingWord& word = doing_word(static_cast<ThreadActivity>(i));
    samples.add(LiveMetric::worker_activity, recent.workers.waits[i],
                {{"activity", std::string(word.name)}});
  }
  samples.add(LiveMetric::worker_activity, recent.workers.no_core, {{"activity", "no_core"}});
}

LiveSamples live_samples(const Watch& recent, const JobIdentity& identity,
                         const std::string& host) {
  LiveSamples samples({{"pid", std::to_string(recent.pid)}});
  samples.add(LiveMetric::job, 1, job_labels(recent, identity, host));
  add_activity_metrics(recent, samples);
  add_process_metrics(recent, samples);
  return samples;
}

}  // namespace loaderscope::watch
