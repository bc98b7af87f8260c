// All training jobs of a machine, each watched by a thread while it runs.
#pragma once

#include <atomic>
#include <filesystem>
#include <functional>
#include <vector>

#include "watch/watch.h"

namespace loaderscope::watch {

// Returns the first process of each job that has workers of a PyTorch DataLoader. Trainers that one
// Python process started, as torchrun does, are one job.
std::vector<pid_t> find_jobs(const std::filesystem::path& root);

struct NodeOptions {
  std::filesystem::path root = "/";  // or a folder with its own proc for tests
  Nanos interval = kSecond;
  Nanos hang_after = 10 * kSecond;
  Nanos search_interval = 5 * kSecond;
  Nanos duration = 0;  // 0: until `stop`
  std::size_t max_jobs = 64;
};

// Called by the threads of the jobs, also at the same time for different jobs.
struct NodeEvents {
  std::function<void(const Watch&)> on_interval;
  std::function<void(pid_t)> on_end;
  std::function<void(std::size_t)> on_too_many;  // jobs beyond max_jobs; called once
};

// Watches until `stop` is not 0, or for the duration.
void watch_node(const NodeOptions& options, const std::atomic<int>& stop, const NodeEvents& events);

}  // namespace loaderscope::watch
