#include "source/private_folder.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

#include "loaderscope/errors.h"

namespace loaderscope::source {
namespace {

namespace fs = std::filesystem;

// Holds the folder until the descriptor is closed: at the latest when this process ends, however it
// ends. Empty where the folder cannot be held; with LOCK_NB also where somebody else holds it.
Fd held(const fs::path& folder, int how) {
  Fd lock(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  return lock >= 0 && ::flock(lock, LOCK_EX | how) == 0 ? std::move(lock) : Fd();
}

bool is_still_there(const Fd& folder) {
  struct stat facts {};
  return ::fstat(folder, &facts) == 0 && facts.st_nlink > 0;
}

// Of runs that were killed: nobody holds them.
void remove_stale_folders(const std::string& place, const std::string& prefix) {
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(place, ignored)) {
    const fs::path path = entry.path();
    if (!path.filename().string().starts_with(prefix)) continue;
    const Fd lock = held(path, LOCK_NB);
    if (lock >= 0) fs::remove_all(path, ignored);
  }
}

}  // namespace

PrivateFolder::PrivateFolder(const std::string& place, const std::string& prefix) {
  remove_stale_folders(place, prefix);
  // Between being made and being held it looks like one left behind, and another run may remove it.
  do {
    path_ = place + "/" + prefix + "XXXXXX";
    if (::mkdtemp(path_.data()) == nullptr) {
      throw RunError(place + ": cannot make a temporary folder: " + std::strerror(errno) +
                     "; set TMPDIR to a place that can be written");
    }
    lock_ = held(path_, 0);
  } while (lock_ >= 0 && !is_still_there(lock_));
}

PrivateFolder::~PrivateFolder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

}  // namespace loaderscope::source
