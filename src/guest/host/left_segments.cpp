#include "guest/host/left_segments.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string_view>
#include <system_error>

#include "base/thread_meter.h"

namespace loaderscope::guest {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPrefix = "torch_";
constexpr const char* kFirstNamespace = "pid:[4026531836]";  // PROC_PID_INIT_INO of the kernel

bool is_number(const std::string& name) {
  return !name.empty() && std::all_of(name.begin(), name.end(),
                                      [](unsigned char letter) { return std::isdigit(letter); });
}

bool sees_all_processes(const fs::path& root) {
  std::error_code none;
  return fs::read_symlink(root / "proc/self/ns/pid", none).string() == kFirstNamespace;
}

}  // namespace

LeftSegments::LeftSegments(fs::path root)
    : root_(std::move(root)),
      is_first_namespace_(sees_all_processes(root_)),
      began_(std::time(nullptr)) {}

void LeftSegments::look(const std::vector<JobProcess>& processes, bool is_last) {
  const Nanos now = monotonic_now();
  if (is_first_namespace_ || (!is_last && !pace_.is_due(now))) return;
  forget_removed();
  for (const JobProcess& process : processes) note_mapped_by(process.pid);
  pace_.looked(now);
}

void LeftSegments::forget_removed() {
  std::erase_if(mapped_, [this](const auto& segment) {
    struct stat state {};
    const fs::path path = root_ / "dev/shm" / segment.first;
    return ::stat(path.c_str(), &state) != 0 || state.st_ino != segment.second;
  });
}

// "7f12a000-7f12b000 rw-s 00000000 00:1b 42    /dev/shm/torch_17_1_0", with " (deleted)" after the
// name of an unlinked one, which leaves nothing.
void LeftSegments::note_mapped_by(pid_t process) {
  constexpr std::string_view kFolder = "/dev/shm/";
  std::ifstream file(root_ / "proc" / std::to_string(process) / "maps");
  for (std::string line; std::getline(file, line);) {
    const auto path = line.find(std::string(kFolder) + std::string(kPrefix));
    if (path == line.npos || line.ends_with(" (deleted)")) continue;
    std::istringstream fields(line);
    std::string skipped;
    ino_t inode = 0;
    if (fields >> skipped >> skipped >> skipped >> skipped >> inode)
      mapped_.emplace(line.substr(path + kFolder.size()), inode);
  }
}

// "NSpid:	4711	17": the process has the number 17 in another namespace.
std::set<pid_t> LeftSegments::numbers_elsewhere() const {
  std::set<pid_t> numbers;
  std::error_code gone;
  const fs::directory_iterator end;
  for (fs::directory_iterator at(root_ / "proc", gone); !gone && at != end; at.increment(gone)) {
    if (!is_number(at->path().filename().string())) continue;
    std::ifstream file(at->path() / "status");
    for (std::string line; std::getline(file, line);) {
      if (!line.starts_with("NSpid:")) continue;
      std::istringstream fields(line.substr(line.find(':') + 1));
      pid_t here = 0, elsewhere = 0;
      fields >> here;
      while (fields >> elsewhere) numbers.insert(elsewhere);
    }
  }
  return numbers;
}

void LeftSegments::remove_segments(const std::set<pid_t>& processes) const {
  std::set<pid_t> owners;
  if (is_first_namespace_) {
    const std::set<pid_t> others = numbers_elsewhere();
    std::set_difference(processes.begin(), processes.end(), others.begin(), others.end(),
                        std::inserter(owners, owners.end()));
  }
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(root_ / "dev/shm", ignored)) {
    const std::string name = entry.path().filename().string();
    struct stat state {};
    if (!name.starts_with(kPrefix) || ::stat(entry.path().c_str(), &state) != 0 ||
        state.st_uid != ::geteuid() || state.st_mtime < began_)
      continue;
    const auto maker = static_cast<pid_t>(std::atol(name.c_str() + kPrefix.size()));
    if (owners.contains(maker) || mapped_.contains({name, state.st_ino}))
      fs::remove(entry.path(), ignored);
  }
}

}  // namespace loaderscope::guest
