// Sums the samples of a watched job to a report.
#include <fmt/format.h>

#include <algorithm>
#include <thread>

#include "machine/cgroup.h"
#include "machine/topology.h"
#include "watch/job_sampler.h"

namespace loaderscope::watch {
namespace {

constexpr double kWorthNaming = 0.02;  // cores

bool is_any(const std::vector<const ProcessSamples*>& traces, bool (*is)(const ProcessSamples&)) {
  return std::any_of(traces.begin(), traces.end(),
                     [&](const ProcessSamples* one) { return is(*one); });
}

}  // namespace

std::string_view name_of(Role role) {
  constexpr std::string_view kNames[] = {"trainer", "worker", "other"};
  return kNames[static_cast<std::size_t>(role)];
}

std::int64_t Watch::count(Role role) const {
  return std::count_if(processes.begin(), processes.end(),
                       [&](const WatchedProcess& one) { return one.role == role; });
}

void JobSampler::report_workers(Watch& watch) const {
  Totals all = ended_workers_;
  for (const auto& [pid, trace] : traces_) {
    const Totals totals = trace.totals();
    if (trace.process().role == Role::worker && totals.looks > 0) all.add(totals);
  }
  double bytes = 0, growth = 0, growing = 0, there = 0;
  for (const WatchedProcess& one : watch.processes) {
    if (one.role != Role::worker || one.has_ended) continue;
    ++there;
    bytes += one.private_bytes;
    growing += one.growth_per_s ? 1 : 0;
    growth += one.growth_per_s.value_or(0);
  }
  watch.workers_seen = workers_seen_;
  watch.workers = all.shares();
  watch.workers_watched_s = all.watched_s;
  if (all.watched_s > 0) {
    watch.worker_read_per_s = all.read / all.watched_s;
    watch.worker_storage_per_s = all.storage / all.watched_s;
  }
  if (there > 0) watch.worker_private_bytes = bytes / there;
  if (growing > 0) watch.worker_growth_per_s = growth / growing;
}

// A trainer asks its loader by a wait for a message: of a worker's pipe, or of the thread that
// makes batches page-locked.
void JobSampler::report_waits(Watch& watch) const {
  const std::vector<const ProcessSamples*> trainers = traces(Role::trainer);
  BatchWaits& waits = watch.waits;
  if (watch.workers_seen == 0) {
    waits.basis =
        "no worker processes were seen: the trainer's own thread loads (num_workers=0), "
        "or threads do";
    return;
  }
  Totals all;
  std::int64_t looks_in_waits = 0, unknown = 0;
  bool has_pin_thread = false;
  for (const ProcessSamples* trainer : trainers) {
    all.add(trainer->totals());
    looks_in_waits += trainer->count_looks(ThreadActivity::queue);
    unknown += trainer->unknown_looks();
    waits.waits += trainer->waits();
    waits.every_s = std::max(waits.every_s, trainer->every_s());
    has_pin_thread = has_pin_thread || trainer->process().pin_thread;
  }
  constexpr std::int64_t kMinCount = 20;
  if (all.looks < kMinCount) {
    waits.basis = "too few looks at what the trainer's thread does";
    return;
  }
  if (unknown * 10 > all.looks && has_pin_thread) {
    waits.basis =
        "the trainer's system calls may not be read (another user's process, or "
        "kernel.yama.ptrace_scope), and it takes batches from a thread by a lock";
    return;
  }
  waits.is_known = true;
  waits.share = all.shares().activity_share(ThreadActivity::queue);
  if (waits.waits > 0)
    waits.mean_s =
        static_cast<double>(looks_in_waits) / static_cast<double>(waits.waits) * waits.every_s;
  waits.basis = fmt::format(
      "{} looks at the main thread of {}: waits for a message count as waits for a batch",
      all.looks, trainers.size() == 1 ? "the trainer" : fmt::format("{} ranks", trainers.size()));
}

void JobSampler::report_machine(Watch& watch) const {
  WatchedMachine& machine = watch.machine;
  machine.quota = cgroup_cores(root_, std::to_string(pid_));
  machine.cores = static_cast<double>(cpus_of_process(root_, pid_).size());
  if (machine.cores == 0) machine.cores = std::thread::hardware_concurrency();
  if (machine.quota) machine.cores = std::min(machine.cores, *machine.quota);
  machine.shm_used = shm_used_;
  machine.shm_size = shm_size_;
  const double wall = watch.watched_s;
  if (wall <= 0) return;
  double own_s = ended_cpu_s_;
  for (const auto& [pid, trace] : traces_) own_s += trace.cpu_s();
  if (begin_.load && now_.load) {
    machine.busy_cores = (now_.load->busy_s - begin_.load->busy_s) / wall;
    const double ours = own_s + now_.load->own_s - begin_.load->own_s;
    machine.other_cores = std::max(0.0, machine.busy_cores - ours / wall);
  }
  if (begin_.throttled_s && now_.throttled_s)
    machine.throttled = (*now_.throttled_s - *begin_.throttled_s) / wall;
  for (const auto& [name, disk] : now_.disks) {
    const auto before = begin_.disks.find(name);
    if (before == begin_.disks.end()) continue;
    const double busy = (disk.busy_s - before->second.busy_s) / wall;
    if (!machine.disk.empty() && busy <= machine.disk_busy) continue;
    machine.disk = name;
    machine.disk_busy = std::clamp(busy, 0.0, 1.0);
    machine.disk_read_per_s = static_cast<double>(disk.read - before->second.read) / wall;
  }
  const double others_wall = seconds(others_now_at_ - others_begin_at_);
  if (!others_now_ || others_wall <= 0) return;
  for (const auto& [name, cpu_s] : others_now_->cpu_s_since(*others_begin_)) {
    if (cpu_s / others_wall >= kWorthNaming) machine.others.push_back({name, cpu_s / others_wall});
  }
  std::stable_sort(machine.others.begin(), machine.others.end(),
                   [](const OtherProgram& a, const OtherProgram& b) { return a.cores > b.cores; });
}

void JobSampler::report_unseen(Watch& watch) const {
  const std::vector<const ProcessSamples*> trainers = traces(Role::trainer),
                                           workers = traces(Role::worker);
  std::vector<const ProcessSamples*> all = trainers;
  all.insert(all.end(), workers.begin(), workers.end());
  if (!gpus_->unavailable().empty()) watch.unseen.push_back("GPUs: " + gpus_->unavailable());
  if (is_any(all, [](const ProcessSamples& one) { return one.unknown_looks() > 0; }))
    watch.unseen.push_back(
        "which files and calls processes wait in: /proc/PID/syscall may not be read (another "
        "user's process, or kernel.yama.ptrace_scope); their place in the kernel is shown instead");
  if (is_any(all, [](const ProcessSamples& one) { return !one.has_ended() && !one.is_io_known(); }))
    watch.unseen.push_back("what processes read: /proc/PID/io may not be read");
  if (!now_.load) watch.unseen.push_back("how busy the machine is: /proc/stat may not be read");
  if (watch.machine.others.empty() && watch.machine.other_cores > 0.1)
    watch.unseen.push_back(
        "which programs took the other cores: /proc shows none that did (hidepid, a container)");
  if (!watch.waits.is_known) watch.unseen.push_back("waits for batches: " + watch.waits.basis);
  watch.unseen.push_back(
      "decode, augment and collate apart, and the copy to the GPU: loaderscope run -- COMMAND "
      "measures them from inside");
}

void JobSampler::report_counters(Watch& watch) const {
  watch.counters = past_;
  for (const auto& [pid, trace] : traces_) add_counters(trace, watch.counters);
}

Watch JobSampler::report() const {
  Watch watch;
  watch.pid = pid_;
  watch.watched_s = seconds(latest_at_ - first_at_);
  watch.samples = samples_;
  watch.looks = looks_;
  watch.job_ended = has_ended_;
  for (const pid_t pid : order_) watch.processes.push_back(traces_.at(pid).report());
  for (const GpuSum& sum : gpu_sums_) {
    const auto samples = static_cast<double>(std::max<std::int64_t>(1, sum.samples));
    const bool is_of_job = std::any_of(sum.last.processes.begin(), sum.last.processes.end(),
                                       [&](pid_t pid) { return traces_.contains(pid); });
    watch.gpus.push_back({sum.last.name, sum.busy / samples, sum.memory / samples, sum.last.memory,
                          is_of_job, sum.last.busy, sum.last.memory_used});
  }
  report_workers(watch);
  report_waits(watch);
  report_machine(watch);
  report_unseen(watch);
  report_counters(watch);
  watch.map_results = map_results_.report();
  if (waited_for_workers_s_ >= 1)
    watch.notes.push_back(
        fmt::format("watched since its first workers were there, {} after the begin",
                    format_duration(static_cast<Nanos>(waited_for_workers_s_ * 1e9))));
  return watch;
}

}  // namespace loaderscope::watch
