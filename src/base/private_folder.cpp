#include "base/private_folder.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

#include "base/fd.h"
#include "loaderscope/errors.h"

namespace loaderscope {
namespace {

namespace fs = std::filesystem;

// Locks the folder until the descriptor is closed, at the latest at the end of this process.
// Returns an empty Fd if the folder cannot be locked, with LOCK_NB also if another process holds
// it.
Fd held(const fs::path& folder, int how) {
  Fd lock(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  return lock >= 0 && ::flock(lock, LOCK_EX | how) == 0 ? std::move(lock) : Fd();
}

bool is_still_there(const Fd& folder) {
  struct stat facts {};
  return ::fstat(folder, &facts) == 0 && facts.st_nlink > 0;
}

bool holds(const fs::path& file, const std::string& text) {
  return readable_text(file.string()).find(text) != std::string::npos;
}

// Another process was started with the folder in its environment, or has mapped a file of it: it
// may yet look for what lies there.
bool is_needed(const std::string& folder) {
  std::error_code ignored;
  const std::string own = std::to_string(::getpid());
  for (const auto& entry : fs::directory_iterator("/proc", ignored)) {
    const std::string name = entry.path().filename().string();
    if (name == own || name.find_first_not_of("0123456789") != std::string::npos) continue;
    if (holds(entry.path() / "environ", folder) || holds(entry.path() / "maps", folder))
      return true;
  }
  return false;
}

// Removes the folders of runs that were killed, if no process holds them and no process that such a
// run started needs them.
void remove_stale_folders(const std::string& place, const std::string& prefix) {
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(place, ignored)) {
    const fs::path path = entry.path();
    if (!path.filename().string().starts_with(prefix)) continue;
    const Fd lock = held(path, LOCK_NB);
    if (lock >= 0 && !is_needed(path.string())) fs::remove_all(path, ignored);
  }
}

}  // namespace

int make_private_folders(const std::string& path) {
  constexpr mode_t kForThisUser = 0700;
  for (std::size_t end = 0; end != path.npos;) {
    end = path.find('/', end + 1);
    const std::string folder = path.substr(0, end);
    const int error = ::mkdir(folder.c_str(), kForThisUser) == 0 ? 0 : errno;
    // A file system that is read-only refuses before it sees that the folder is there.
    if (error != 0 && error != EEXIST && ::access(folder.c_str(), F_OK) != 0) return error;
  }
  return 0;
}

PrivateFolder::PrivateFolder(const std::string& place, const std::string& prefix) {
  remove_stale_folders(place, prefix);
  // A new folder that is not yet locked looks abandoned, so another run may remove it.
  do {
    path_ = place + "/" + prefix + "XXXXXX";
    if (::mkdtemp(path_.data()) == nullptr) {
      throw RunError(place + ": cannot make a temporary folder (" + std::strerror(errno) + ")",
                     "set TMPDIR to a place that can be written");
    }
    lock_ = held(path_, 0);
  } while (lock_ >= 0 && !is_still_there(lock_));
}

PrivateFolder::~PrivateFolder() {
  std::error_code ignored;
  if (!is_needed(path_)) fs::remove_all(path_, ignored);
}

}  // namespace loaderscope
