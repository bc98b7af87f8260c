#include "watch/job_board.h"

#include <utility>

#include "watch/watch_metrics.h"

namespace loaderscope::watch {

JobBoard::JobBoard(monitor::LiveBoard& board, std::string host, std::filesystem::path root)
    : board_(board), host_(std::move(host)), root_(std::move(root)) {}

JobBoard::Job& JobBoard::get_job(pid_t pid) {
  const std::lock_guard lock(mutex_);
  const auto found = jobs_.find(pid);
  if (found != jobs_.end()) return found->second;
  return jobs_.emplace(pid, Job{read_job_identity(root_, pid), {}}).first->second;
}

void JobBoard::show(const Watch& now) {
  Job& job = get_job(now.pid);
  board_.set(now.pid, live_samples(job.recent.add(now), job.identity, host_));
}

void JobBoard::remove(pid_t pid) {
  const std::lock_guard lock(mutex_);
  jobs_.erase(pid);
  board_.remove(pid);
}

}  // namespace loaderscope::watch
