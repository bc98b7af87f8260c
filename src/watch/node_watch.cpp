#include "watch/node_watch.h"

#include <algorithm>
#include <map>
#include <memory>
#include <system_error>
#include <thread>
#include <utility>

#include "base/sleep.h"
#include "base/thread_meter.h"
#include "loaderscope/errors.h"
#include "machine/proc_file.h"
#include "watch/roles.h"

namespace loaderscope::watch {
namespace {

pid_t read_parent(const std::filesystem::path& root, pid_t pid) {
  const auto stat = read_process_stat((root / "proc" / std::to_string(pid)).string());
  return stat ? stat->parent : 0;
}

class NodeWatch {
 public:
  NodeWatch(const NodeOptions& options, const std::atomic<int>& stop, const NodeEvents& events)
      : options_(options), stop_(stop), events_(events) {}

  ~NodeWatch() {
    for (auto& [pid, job] : jobs_) job->thread.join();
  }

  void run() {
    const Nanos end = options_.duration > 0 ? monotonic_now() + options_.duration : Nanos{1} << 61;
    while (stop_ == 0 && monotonic_now() < end) {
      join_ended();
      start_new();
      sleep_until(std::min(end, monotonic_now() + options_.search_interval), &stop_);
    }
    for (auto& [pid, job] : jobs_) job->is_over = true;
  }

 private:
  struct Job {
    std::atomic<bool> has_ended{false};
    std::atomic<bool> is_over{false};  // also if a job of several ranks replaces it
    std::thread thread;
  };

  void join_ended() {
    std::erase_if(jobs_, [](auto& entry) {
      if (!entry.second->has_ended) return false;
      entry.second->thread.join();
      return true;
    });
  }

  void start_new() {
    std::size_t left_out = 0;
    const std::vector<pid_t> found = find_jobs(options_.root);
    for (auto& [pid, job] : jobs_) {
      const pid_t parent = read_parent(options_.root, pid);
      if (std::ranges::find(found, parent) != found.end()) job->is_over = true;
    }
    for (const pid_t pid : found) {
      if (jobs_.contains(pid) || jobs_.contains(read_parent(options_.root, pid))) continue;
      if (jobs_.size() < options_.max_jobs && start(pid)) continue;
      ++left_out;
    }
    if (left_out > 0 && !std::exchange(has_reported_, true)) events_.on_too_many(left_out);
  }

  // Returns false if the machine has no thread left.
  bool start(pid_t pid) {
    auto job = std::make_unique<Job>();
    try {
      job->thread = std::thread([this, pid, &one = *job] {
        watch_one(pid, one.is_over);
        one.has_ended = true;
      });
    } catch (const std::system_error&) {
      return false;
    }
    jobs_.emplace(pid, std::move(job));
    return true;
  }

  void watch_one(pid_t pid, const std::atomic<bool>& is_over) const {
    WatchOptions options;
    options.root = options_.root;
    options.pid = pid;
    options.interval = options_.interval;
    options.hang_after = options_.hang_after;
    try {
      watch_job(options, stop_, [&](const Watch& now) {
        if (is_over) return false;
        events_.on_interval(now);
        return true;
      });
    } catch (const RunError&) {  // the job ended before the first sample
    }
    events_.on_end(pid);
  }

  const NodeOptions& options_;
  const std::atomic<int>& stop_;
  const NodeEvents& events_;
  std::map<pid_t, std::unique_ptr<Job>> jobs_;
  bool has_reported_ = false;
};

}  // namespace

std::vector<pid_t> find_jobs(const std::filesystem::path& root) {
  std::map<pid_t, std::vector<pid_t>> families;
  for (const pid_t trainer : trainers_here(root)) {
    if (const pid_t parent = read_parent(root, trainer)) families[parent].push_back(trainer);
  }
  std::vector<pid_t> jobs;
  for (const auto& [parent, trainers] : families) {
    if (trainers.size() > 1 && is_python(read_command(root, parent)))
      jobs.push_back(parent);
    else
      jobs.insert(jobs.end(), trainers.begin(), trainers.end());
  }
  return jobs;
}

void watch_node(const NodeOptions& options, const std::atomic<int>& stop,
                const NodeEvents& events) {
  NodeWatch(options, stop, events).run();
}

}  // namespace loaderscope::watch
