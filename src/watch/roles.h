// The roles of the processes of a job. They follow from the names that PyTorch gives, or else from
// the way in which Python starts processes.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "machine/proc_file.h"
#include "watch/watch.h"

namespace loaderscope::watch {

struct JobProcess {
  pid_t pid = 0;
  std::int64_t started = 0;
  Role role = Role::other;
  pid_t trainer = 0;  // trainer of a worker
  std::int64_t rank = 0, number = 0;
  std::string name;
  std::optional<pid_t> pin_thread;  // set for a trainer
  bool has_command = true;          // not of one that is ending, or may not be read
};

// Returns the family of `pid` among `all`: each trainer, followed by its workers.
std::vector<JobProcess> processes_of_job(const std::filesystem::path& root, pid_t pid,
                                         const ProcessTable& all);

inline constexpr std::string_view kWorkerName = "pt_data_worker", kPinName = "pt_data_pin";

// The words of its command line; none where it may not be read, or of a thread of the kernel.
std::vector<std::string> read_command(const std::filesystem::path& root, pid_t pid);
bool is_python(const std::vector<std::string>& command);
std::string spelled_command(const std::filesystem::path& root, pid_t pid, std::string_view name);

}  // namespace loaderscope::watch
