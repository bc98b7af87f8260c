// Shows watched jobs on a board for monitors: the last minute of each.
#pragma once

#include <map>
#include <mutex>
#include <string>

#include "machine/container.h"
#include "monitor/live_metric.h"
#include "watch/recent_watch.h"

namespace loaderscope::watch {

class JobBoard {
 public:
  // `board` must outlive this. `root` is "/", or a copy of /proc for tests.
  JobBoard(monitor::LiveBoard& board, std::string host, std::filesystem::path root = "/");

  // Both are callable from any thread, for one job by one thread at a time.
  void show(const Watch& now);
  void remove(pid_t pid);

 private:
  struct Job {
    JobIdentity identity;
    RecentWatch recent;
  };
  Job& get_job(pid_t pid);

  monitor::LiveBoard& board_;
  std::string host_;
  std::filesystem::path root_;
  std::mutex mutex_;
  std::map<pid_t, Job> jobs_;
};

}  // namespace loaderscope::watch
