#include "watch/roles.h"

#include <algorithm>
#include <cstdlib>
#include <set>
#include <system_error>

#include "loaderscope/errors.h"
#include "machine/proc_file.h"

namespace loaderscope::watch {
namespace {

namespace fs = std::filesystem;

fs::path process_folder(const fs::path& root, pid_t pid) {
  return root / "proc" / std::to_string(pid);
}

std::vector<std::string> split_words(const std::string& text) {
  std::vector<std::string> words;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\0', at), text.size());
    words.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return words;
}

bool has_part(const std::vector<std::string>& words, std::string_view part) {
  return std::any_of(words.begin(), words.end(),
                     [&](const std::string& word) { return word.find(part) != word.npos; });
}

// Returns true for helpers of multiprocessing, which make no batches.
bool is_helper(const std::vector<std::string>& command) {
  return has_part(command, "multiprocessing.resource_tracker") ||
         has_part(command, "multiprocessing.resource_sharer");
}

bool is_fork_server(const std::vector<std::string>& command) {
  return has_part(command, "multiprocessing.forkserver");
}

bool is_spawned(const std::vector<std::string>& command) {
  return has_part(command, "multiprocessing.spawn") || has_part(command, "--multiprocessing-fork");
}

bool uses_gpu(const fs::path& root, pid_t pid) {
  std::error_code error;
  const fs::directory_iterator end;
  for (fs::directory_iterator at(process_folder(root, pid) / "fd", error); !error && at != end;
       at.increment(error)) {
    const std::string file = fs::read_symlink(at->path(), error).string();
    if (!error && file.starts_with("/dev/nvidia") && file != "/dev/nvidiactl") return true;
  }
  return false;
}

std::optional<pid_t> find_pin_thread(const fs::path& root, pid_t pid) {
  std::error_code error;
  const fs::directory_iterator end;
  for (fs::directory_iterator at(process_folder(root, pid) / "task", error); !error && at != end;
       at.increment(error)) {
    if (read_text((at->path() / "comm").string()).starts_with(kPinName))
      return static_cast<pid_t>(std::strtol(at->path().filename().c_str(), nullptr, 10));
  }
  return std::nullopt;
}

// torchrun's number.
std::optional<std::int64_t> read_rank(const fs::path& root, pid_t pid) {
  constexpr std::string_view kRank = "RANK=";
  for (const std::string& entry :
       split_words(read_text((process_folder(root, pid) / "environ").string()))) {
    if (entry.starts_with(kRank))
      return NumberReader(std::string_view(entry).substr(kRank.size())).next();
  }
  return std::nullopt;
}

// A family, with what is asked of its members more than once.
class Family {
 public:
  Family(const fs::path& root, pid_t pid, const ProcessTable& all) : root_(root), all_(all) {
    for (const pid_t one : process_family(pid, all)) {
      if (all.contains(one)) commands_[one] = read_command(root, one);
    }
    has_names_ = std::any_of(commands_.begin(), commands_.end(),
                             [&](const auto& one) { return name(one.first) == kWorkerName; });
  }

  const std::map<pid_t, std::vector<std::string>>& commands() const { return commands_; }
  const std::string& name(pid_t pid) const { return all_.at(pid).name; }

  // Returns the parent of a worker, and skips fork servers between them.
  pid_t find_maker(pid_t pid) const {
    pid_t parent = all_.at(pid).parent;
    while (commands_.contains(parent) && is_fork_server(commands_.at(parent)))
      parent = all_.at(parent).parent;
    return commands_.contains(parent) ? parent : 0;
  }

  bool is_worker(pid_t pid) const {
    if (all_.at(pid).has_ended() && !has_names_) return false;
    if (name(pid) == kWorkerName) return true;
    const std::vector<std::string>& command = commands_.at(pid);
    if (has_names_ || find_maker(pid) == 0 || !is_python(command) || is_helper(command))
      return false;
    const pid_t parent = all_.at(pid).parent;
    const bool is_forked = command == commands_.at(parent);
    const bool is_served = is_fork_server(commands_.at(parent));
    return (is_forked || is_served || is_spawned(command)) && !has_children(pid) &&
           !uses_gpu(root_, pid);
  }

  bool has_children(pid_t pid) const {
    return std::any_of(commands_.begin(), commands_.end(), [&](const auto& one) {
      return all_.at(one.first).parent == pid && !one.second.empty() && !is_helper(one.second);
    });
  }

  // Returns the trainers of a job without workers: processes that use a GPU, else Pythons that
  // start no other process, else `first`.
  std::set<pid_t> trainers_without_workers(pid_t first) const {
    std::set<pid_t> found;
    for (const auto& [pid, command] : commands_) {
      if (uses_gpu(root_, pid)) found.insert(pid);
    }
    for (const auto& [pid, command] : commands_) {
      if (found.empty() && is_python(command) && !is_helper(command) && !has_children(pid))
        found.insert(pid);
    }
    if (found.empty()) found.insert(first);
    return found;
  }

 private:
  const fs::path& root_;
  const ProcessTable& all_;
  std::map<pid_t, std::vector<std::string>> commands_;
  bool has_names_ = false;
};

bool starts_before(const JobProcess& a, const JobProcess& b) {
  return std::pair(a.started, a.pid) < std::pair(b.started, b.pid);
}

// The number of each trainer: torchrun's, else counted.
void number_trainers(std::vector<JobProcess>& trainers, const fs::path& root) {
  std::sort(trainers.begin(), trainers.end(), starts_before);
  std::int64_t next = 0;
  for (JobProcess& trainer : trainers) {
    trainer.rank = trainers.size() > 1 ? read_rank(root, trainer.pid).value_or(next) : 0;
    ++next;
  }
  std::stable_sort(trainers.begin(), trainers.end(),
                   [](const JobProcess& a, const JobProcess& b) { return a.rank < b.rank; });
}

}  // namespace

std::vector<std::string> read_command(const fs::path& root, pid_t pid) {
  return split_words(read_text((process_folder(root, pid) / "cmdline").string()));
}

bool is_python(const std::vector<std::string>& command) {
  return !command.empty() &&
         fs::path(command.front()).filename().string().find("python") != std::string::npos;
}

std::string spelled_command(const fs::path& root, pid_t pid, std::string_view name) {
  std::string text;
  for (const std::string& word : read_command(root, pid)) text += (text.empty() ? "" : " ") + word;
  return text.empty() ? std::string(name) : text;
}

std::vector<JobProcess> processes_of_job(const fs::path& root, pid_t pid, const ProcessTable& all) {
  const Family family(root, pid, all);
  std::map<pid_t, std::vector<JobProcess>> workers;  // workers of each trainer
  std::vector<JobProcess> trainers, others;
  for (const auto& [one, command] : family.commands()) {
    if (!family.is_worker(one)) continue;
    const pid_t trainer = family.find_maker(one) != 0 ? family.find_maker(one) : one;
    workers[trainer].push_back(
        {one, all.at(one).started, Role::worker, trainer, 0, 0, family.name(one), {}});
  }
  std::set<pid_t> makers;
  for (const auto& [trainer, its] : workers) makers.insert(trainer);
  if (makers.empty() && !family.commands().empty()) makers = family.trainers_without_workers(pid);
  for (const auto& [one, command] : family.commands()) {
    JobProcess process{one, all.at(one).started, Role::other, 0, 0, 0, family.name(one),
                       {},  !command.empty()};
    if (makers.contains(one) && !family.is_worker(one)) {
      process.role = Role::trainer;
      process.pin_thread = find_pin_thread(root, one);
      trainers.push_back(process);
    } else if (!family.is_worker(one)) {
      others.push_back(process);
    }
  }
  number_trainers(trainers, root);
  std::vector<JobProcess> job;
  for (const JobProcess& trainer : trainers) {
    job.push_back(trainer);
    std::vector<JobProcess>& its = workers[trainer.pid];
    std::sort(its.begin(), its.end(), starts_before);
    for (std::size_t i = 0; i < its.size(); ++i) {
      its[i].rank = trainer.rank;
      its[i].number = static_cast<std::int64_t>(i);
      job.push_back(its[i]);
    }
  }
  job.insert(job.end(), others.begin(), others.end());
  return job;
}

std::vector<pid_t> trainers_here(const fs::path& root) {
  std::set<pid_t> trainers;
  const ProcessTable all = read_processes(root);
  for (const auto& [pid, stat] : all) {
    if (stat.name == kWorkerName && stat.parent > 1 && all.contains(stat.parent))
      trainers.insert(stat.parent);
  }
  return {trainers.begin(), trainers.end()};
}

void check_process(const fs::path& root, pid_t pid) {
  const auto stat = read_process_stat(process_folder(root, pid).string());
  if (!stat)
    throw RunError(
        "--pid " + std::to_string(pid) +
            ": there is no such process, or /proc does not show it (hidepid, another container)",
        "see ps -e for those that it shows");
  if (stat->has_ended())
    throw RunError(
        "--pid " + std::to_string(pid) + ": has ended, and its parent has not taken note",
        "name a running process");
}

}  // namespace loaderscope::watch
