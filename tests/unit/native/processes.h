// Processes as the kernel sees them, for tests of worker processes.
#pragma once

#include <sys/types.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace loaderscope::native {

struct Stat {
  char state = '?';
  pid_t parent = 0;
};

inline Stat read_stat(const std::string& pid) {
  std::ifstream file("/proc/" + pid + "/stat");
  std::string text;
  std::getline(file, text);
  Stat stat;
  const auto name_end = text.rfind(')');
  if (name_end == text.npos) return stat;
  std::istringstream(text.substr(name_end + 1)) >> stat.state >> stat.parent;
  return stat;
}

inline std::vector<pid_t> child_pids(pid_t pid) {
  std::vector<pid_t> children;
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    const std::string name = entry.path().filename();
    if (name.find_first_not_of("0123456789") != name.npos) continue;
    if (read_stat(name).parent == pid) children.push_back(std::stoi(name));
  }
  std::sort(children.begin(), children.end());
  return children;
}

// All below `pid`: the process that forks the workers, and the workers.
inline std::vector<pid_t> descendant_pids(pid_t pid) {
  std::vector<pid_t> family;
  for (const pid_t child : child_pids(pid)) {
    family.push_back(child);
    for (const pid_t below : descendant_pids(child)) family.push_back(below);
  }
  return family;
}

// The workers of a run in that process; empty while there are none.
inline std::vector<pid_t> worker_pids(pid_t pid) {
  for (const pid_t zygote : child_pids(pid)) {
    const std::vector<pid_t> workers = child_pids(zygote);
    if (!workers.empty()) return workers;
  }
  return {};
}

inline bool is_alive(pid_t pid) {  // zombies are not
  const char state = read_stat(std::to_string(pid)).state;
  return state != '?' && state != 'Z' && state != 'X';
}

inline std::vector<std::string> open_files() {
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd"))
    files.push_back(entry.path().filename());
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace loaderscope::native
