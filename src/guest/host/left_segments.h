// PyTorch's segments in /dev/shm, which processes that were killed may leave. Their names have the
// number of the process that made them. Another container that shares the folder counts its
// processes on its own: a name alone does not prove whose a segment is.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <ctime>
#include <filesystem>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "guest/host/job_process.h"

namespace loaderscope::guest {

class LeftSegments {
 public:
  // Segments that are older than this object are never removed. `root` is "/", or a folder with its
  // own proc and dev/shm for tests.
  explicit LeftSegments(std::filesystem::path root = "/");

  // Notes the segments that running processes of the job have mapped, at most every 10 seconds
  // unless `is_last`. Does nothing in the first PID namespace, which sees the processes of all
  // others.
  void look(const std::vector<JobProcess>& processes, bool is_last = false);
  // Removes the segments of `processes`, which have all ended.
  void remove_segments(const std::set<pid_t>& processes) const;
  std::size_t noted() const { return mapped_.size(); }

 private:
  void forget_removed();
  void note_mapped_by(pid_t process);
  std::set<pid_t> numbers_elsewhere() const;

  std::filesystem::path root_;
  bool is_first_namespace_;
  std::time_t began_;                               // time on the clock of file times
  SamplingPace pace_{10 * kSecond, 200};            // all mappings of all processes are read
  std::set<std::pair<std::string, ino_t>> mapped_;  // names and inodes
};

}  // namespace loaderscope::guest
