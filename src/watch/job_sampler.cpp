#include "watch/job_sampler.h"

#include <algorithm>
#include <set>

#include "base/thread_meter.h"
#include "machine/cgroup.h"
#include "machine/machine.h"
#include "machine/topology.h"

namespace loaderscope::watch {
namespace {

constexpr Nanos kSlow = 5 * kSecond;    // between looks at memory, files and new processes
constexpr double kMaxRefreshing = 200;  // limit of its time: the interval divided by this

}  // namespace

JobSampler::JobSampler(const std::filesystem::path& root, pid_t pid, pid_t own,
                       const GpuLoads& gpus)
    : root_(root),
      pid_(pid),
      own_(own),
      started_(
          read_process_stat(root / "proc" / std::to_string(pid)).value_or(ProcessStat{}).started),
      gpus_(&gpus),
      map_results_(root, started_) {}

std::set<pid_t> JobSampler::own_family(const ProcessTable& all) const {
  std::set<pid_t> own = process_family(pid_, all);
  own.insert(own_);
  return own;
}

JobSampler::State JobSampler::read_state() const {
  return {read_machine_load(root_, cpus_of_process(root_, pid_)), read_disks(root_),
          cgroup_throttled(root_, std::to_string(pid_))};
}

void JobSampler::begin_machine(const ProcessTable& all, Nanos at) {
  begin_ = now_ = read_state();
  others_begin_.emplace(all, own_family(all));
  others_now_.reset();
  others_begin_at_ = others_now_at_ = at;
}

// Restarts the sums. Time before the first workers started is no loading.
void JobSampler::begin(Nanos at) {
  for (auto& [pid, trace] : traces_) {
    add_counters(trace, past_);
    trace.restart();
  }
  ended_workers_ = {};
  ended_cpu_s_ = 0;
  gpu_sums_.clear();
  waited_for_workers_s_ = seconds(at - first_at_);
  first_at_ = at;
}

// Finds new processes, and updates the roles.
void JobSampler::refresh(Nanos at) {
  const Nanos begun = thread_cpu_now();
  const ProcessTable all = read_processes(root_);
  const auto job = all.find(pid_);
  has_ended_ = job == all.end() || job->second.has_ended() || job->second.started != started_;
  if (has_ended_) return;
  order_.clear();
  bool has_workers = false;
  for (const JobProcess& process : processes_of_job(root_, pid_, all)) {
    auto [trace, is_new] = traces_.try_emplace(process.pid, root_, process);
    if (!is_new && trace->second.process().started != process.started) {
      fold(trace->second);
      trace->second = ProcessSamples(root_, process);
      is_new = true;
    }
    trace->second.know(process);
    if (is_new) trace->second.sample(at);
    if (is_new && process.role == Role::worker) ++workers_seen_;
    has_workers = has_workers || process.role == Role::worker;
    order_.push_back(process.pid);
  }
  if (has_workers && !had_workers_ && samples_ > 0) begin(at);
  if (!others_begin_ || (has_workers && !had_workers_)) {
    begin_machine(all, at);
  } else {
    others_now_.emplace(all, own_family(all));
    others_now_at_ = at;
  }
  had_workers_ = had_workers_ || has_workers;
  const auto cost = static_cast<double>(thread_cpu_now() - begun);
  refresh_at_ = at + std::max(kSlow, static_cast<Nanos>(kMaxRefreshing * cost));
}

void JobSampler::sample_others(Nanos at) {
  if (!has_ended_) refresh(at);
}

void JobSampler::fold(const ProcessSamples& ended) {
  ended_cpu_s_ += ended.cpu_s();
  add_counters(ended, past_);
  const Totals totals = ended.totals();
  if (ended.process().role == Role::worker && totals.looks > 0) ended_workers_.add(totals);
}

// Folds the processes that the table of processes no longer shows. Until then, their parent has not
// collected them.
void JobSampler::fold_ended() {
  std::erase_if(traces_, [&](const auto& entry) {
    const auto& [pid, trace] = entry;
    if (!trace.has_ended() || std::ranges::find(order_, pid) != order_.end()) return false;
    fold(trace);
    return true;
  });
}

void JobSampler::sample(Nanos at) {
  if (first_at_ == 0) first_at_ = at;
  bool has_lost = false;
  for (auto& [pid, trace] : traces_) {
    const bool was_there = !trace.has_ended();
    trace.sample(at);
    has_lost = has_lost || (was_there && trace.has_ended());
  }
  // New workers come where others have gone, and before there are any.
  if (at >= refresh_at_ || has_lost || (!had_workers_ && at >= refresh_at_ - kSlow + kSecond))
    refresh(at);
  if (has_ended_) return;
  fold_ended();
  if (at >= slow_at_) {
    for (auto& [pid, trace] : traces_) {
      trace.look_at_memory(at);
      trace.look_at_files();
    }
    look_at_map_results();
    slow_at_ = at + kSlow;
  }
  now_ = read_state();
  // A job in a container has its own /dev/shm.
  auto shared = read_shared_folder((root_ / "proc" / std::to_string(pid_) / "root").string());
  if (!shared) shared = read_shared_folder();
  if (shared) {
    shm_used_ = std::max(shm_used_, static_cast<double>(shared->used));
    shm_size_ = static_cast<double>(shared->used + shared->free);
  }
  ++samples_;
  latest_at_ = at;
  note_no_progress(at);
}

// Workers have what their trainer has; a pool of map()'s looks like them and writes.
void JobSampler::look_at_map_results() {
  std::vector<pid_t> mapping;
  for (const pid_t pid : order_)
    if (traces_.at(pid).process().role != Role::worker) mapping.push_back(pid);
  map_results_.look(mapping, order_);
}

void JobSampler::sample_gpus() {
  const std::vector<GpuLoad> loads = gpus_->read();
  gpu_sums_.resize(loads.size());
  for (std::size_t i = 0; i < loads.size(); ++i) {
    gpu_sums_[i].last = loads[i];
    gpu_sums_[i].busy += loads[i].busy;
    gpu_sums_[i].memory += loads[i].memory_used;
    ++gpu_sums_[i].samples;
  }
}

// A look at 64 workers costs as much as at four: each is looked at less often.
double JobSampler::look_rate(std::size_t processes) const {
  constexpr double kMaxOfAll = 100, kMaxOfOne = static_cast<double>(kSecond / kTick);
  return processes == 0 ? 0 : std::min(kMaxOfOne, kMaxOfAll / static_cast<double>(processes));
}

void JobSampler::look() {
  std::vector<ProcessSamples*> trainers, workers;
  for (const pid_t pid : order_) {
    ProcessSamples& trace = traces_.at(pid);
    if (trace.has_ended()) continue;
    if (trace.process().role == Role::trainer) trainers.push_back(&trace);
    if (trace.process().role == Role::worker) workers.push_back(&trace);
  }
  const auto look_at = [&](const std::vector<ProcessSamples*>& some, double& credit,
                           std::size_t& turn) {
    const double rate = look_rate(some.size());
    credit += rate * static_cast<double>(some.size()) * seconds(kTick);
    for (; credit >= 1 && !some.empty(); credit -= 1, ++turn, ++looks_)
      some[turn % some.size()]->look(1 / rate);
  };
  look_at(trainers, trainer_credit_, trainer_turn_);
  look_at(workers, worker_credit_, turn_);
}

std::vector<const ProcessSamples*> JobSampler::traces(Role role) const {
  std::vector<const ProcessSamples*> found;
  for (const pid_t pid : order_) {
    const ProcessSamples& trace = traces_.at(pid);
    if (trace.process().role == role) found.push_back(&trace);
  }
  return found;
}

// Detects a hang: a trainer waits, and all processes only wake up to poll.
void JobSampler::note_no_progress(Nanos at) {
  constexpr double kCpuShare = 0.02, kWakesPerSecond = 5, kGpuIsIdle = 0.05;
  const std::vector<const ProcessSamples*> trainers = traces(Role::trainer),
                                           workers = traces(Role::worker);
  bool is_still = !trainers.empty();
  double cpu = 0;
  for (const auto* group : {&trainers, &workers}) {
    for (const ProcessSamples* one : *group) {
      cpu += one->latest_cpu();
      is_still = is_still && one->latest_turns() <= kWakesPerSecond;
    }
  }
  for (const ProcessSamples* trainer : trainers) {
    const ThreadActivity doing = trainer->latest_look().doing;
    is_still = is_still && doing != ThreadActivity::runs && doing != ThreadActivity::sleep;
  }
  for (const GpuSum& gpu : gpu_sums_) is_still = is_still && gpu.last.busy <= kGpuIsIdle;
  is_still = is_still && cpu <= kCpuShare * static_cast<double>(trainers.size());
  if (!is_still) {
    still_since_ = 0;
  } else if (still_since_ == 0) {
    still_since_ = at;
  }
}

}  // namespace loaderscope::watch
