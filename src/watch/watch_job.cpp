// Watching a job from its begin to its end.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "base/failure_text.h"
#include "base/sleep.h"
#include "base/thread_meter.h"
#include "loaderscope/errors.h"
#include "watch/hang_lines.h"
#include "watch/job_sampler.h"

namespace loaderscope::watch {
namespace {

constexpr std::size_t kMaxLines = 8;  // processes that are asked for their Python line

// A worker is watched through its trainer.
pid_t watched_job(const WatchOptions& options, std::vector<std::string>& notes) {
  const auto stat = read_process_stat(options.root / "proc" / std::to_string(options.pid));
  if (options.child == nullptr) {
    check_process(options.root, options.pid);
  } else if (!stat || stat->has_ended()) {
    throw RunError("the program after -- ended at once, before there was anything to see",
                   "start it by itself to see what it says");
  }
  if (!stat || stat->name != kWorkerName || stat->parent <= 1) return options.pid;
  notes.push_back(fmt::format("process {} is a worker of process {}, which is watched", options.pid,
                              stat->parent));
  return stat->parent;
}

class Watching {
 public:
  Watching(const WatchOptions& options, const std::atomic<int>& stop)
      : options_(options),
        stop_(stop),
        pid_(watched_job(options, notes_)),
        program_(spelled_command(options.root, pid_,
                                 read_process_stat(options.root / "proc" / std::to_string(pid_))
                                     .value_or(ProcessStat{})
                                     .name)),
        sampler_(options.root, pid_, ::getpid(), gpus_),
        begin_(monotonic_now()),
        cpu_begin_(thread_cpu_now()) {}

  Watch watch(const std::function<bool(const Watch&)>& on_interval) {
    const Nanos end = options_.duration > 0 ? begin_ + options_.duration : Nanos{1} << 61;
    for (Nanos next = begin_; stop_.load() == 0 && monotonic_now() < end;) {
      sampler_.look();
      if (const Nanos now = monotonic_now(); now >= next) {
        sample(now);
        if (sampler_.has_ended()) break;
        if (!on_interval(so_far())) break;
        next = std::max(next + options_.interval, now);
      }
      sleep_until(std::min(monotonic_now() + jittered(), end), &stop_);
    }
    return result();
  }

 private:
  // Varies the interval, so that samples do not synchronise with a periodic job.
  Nanos jittered() {
    jitter_ = jitter_ * 6364136223846793005U + 1442695040888963407U;
    const auto part = static_cast<Nanos>(jitter_ >> 44);  // 20 bits
    return JobSampler::kTick + JobSampler::kTick * (part - (1 << 19)) / (1 << 21);
  }

  void sample(Nanos now) {
    if (options_.child != nullptr) options_.child->status();  // takes note of who has ended
    sampler_.sample(now);
    sampler_.sample_gpus();
    const bool hangs = sampler_.hung_for() >= options_.hang_after;
    if (!hangs) states_.clear();
    if (hangs && states_.empty() && !sampler_.has_ended()) {
      ask_python();
      states_ = hang_lines(options_.root, sampler_, python_);
    }
  }

  // Trainers, and workers that do not rest before those that do.
  void ask_python() {
    python_.clear();
    std::vector<const ProcessSamples*> all = sampler_.traces(Role::trainer);
    std::vector<const ProcessSamples*> workers = sampler_.traces(Role::worker);
    std::stable_partition(workers.begin(), workers.end(), [](const ProcessSamples* one) {
      return one->latest_look().doing != ThreadActivity::queue;
    });
    if (all.size() > kMaxLines / 2) all.resize(kMaxLines / 2);
    all.insert(all.end(), workers.begin(), workers.end());
    for (const ProcessSamples* one : all) {
      if (python_.size() == kMaxLines || (stop_.load() != 0 && !python_.empty())) return;
      if (one->has_ended()) continue;
      PythonLook look = look_at_python(options_.root, one->process().pid);
      const bool is_refused = !look.why_not.empty();
      python_[one->process().pid] = std::move(look);
      if (is_refused) return;
    }
  }

  Watch so_far() const {
    Watch watch = sampler_.report();
    watch.program = program_;
    watch.hang_states = states_;
    watch.notes.insert(watch.notes.begin(), notes_.begin(), notes_.end());
    const double wall = seconds(monotonic_now() - begin_);
    if (wall > 0) watch.own_cpu = seconds(thread_cpu_now() - cpu_begin_) / wall;
    judge(watch);
    return watch;
  }

  Watch result() {
    const Nanos now = monotonic_now();
    if (!sampler_.has_ended()) sample(now);
    if (!sampler_.has_ended()) sampler_.sample_others(now);
    if (stop_.load() == 0 && states_.empty() && !sampler_.has_ended()) ask_python();
    Watch watch = so_far();
    watch.interrupted = stop_.load() != 0;
    watch.job_ended = sampler_.has_ended();
    if (options_.child != nullptr) {
      if (const auto status = options_.child->status()) watch.end = describe_exit(*status);
    }
    add_lines(watch);
    if (watch.job_ended && watch.samples < 2)
      watch.notes.push_back("it ended before there was anything to see");
    return watch;
  }

  void add_lines(Watch& watch) const {
    for (WatchedProcess& process : watch.processes) {
      const auto look = python_.find(process.pid);
      if (look == python_.end() || look->second.threads.empty()) continue;
      const hang::PythonThread& main = look->second.threads.front();
      const hang::PythonFrame* frame = main.own();
      if (frame == nullptr && !main.frames.empty()) frame = &main.frames.front();
      if (frame != nullptr) process.line = hang::spelled_place(*frame);
    }
    for (const auto& [pid, look] : python_) {
      if (look.why_not.empty()) continue;
      watch.unseen.push_back("Python lines: " + look.why_not);
      break;
    }
  }

  const WatchOptions& options_;
  const std::atomic<int>& stop_;
  std::vector<std::string> notes_;
  pid_t pid_;
  std::string program_;
  GpuLoads gpus_;
  JobSampler sampler_;
  Nanos begin_, cpu_begin_;
  std::uint64_t jitter_ = 20;
  std::vector<std::string> states_;
  PythonLooks python_;
};

}  // namespace

Watch watch_job(const WatchOptions& options, const std::atomic<int>& stop,
                const std::function<bool(const Watch&)>& on_interval) {
  return Watching(options, stop).watch(on_interval);
}

}  // namespace loaderscope::watch
