// Contents of the range cache's folder, and the removal of files.
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "base/fd.h"
#include "source/range_cache.h"
#include "source/walk.h"

namespace loaderscope::source {
namespace {

namespace fs = std::filesystem;

constexpr double kLeft = 0.9;  // share of the limit that remains after a removal

// Removes a file whose writer has died. A live writer holds a lock on the file.
void remove_if_orphan(const std::string& path) {
  const Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  if (fd >= 0 && ::flock(fd, LOCK_EX | LOCK_NB) == 0) ::unlink(path.c_str());
}

}  // namespace

std::vector<RangeCache::Entry> RangeCache::files() const {
  std::vector<Entry> entries;
  std::error_code error;
  fs::directory_iterator file(folder_, error);
  for (; !error && file != fs::directory_iterator(); file.increment(error)) {
    const std::string name = file->path().filename().string();
    if (name.starts_with(kUnfinished)) remove_if_orphan(file->path().string());
    struct stat facts {};
    if (!name.starts_with(kEntry) || ::lstat(file->path().c_str(), &facts) != 0 ||
        !S_ISREG(facts.st_mode))
      continue;
    entries.push_back({file->path().string(), facts.st_size, range_clock(facts.st_mtim)});
  }
  return entries;
}

// A process that finds another one tidying does not keep the range.
bool RangeCache::make_room(Bytes bytes) {
  if (bytes > most_) return false;
  if (*used_ + bytes <= most_) return true;
  return tidy(static_cast<Bytes>(kLeft * static_cast<double>(most_)) - bytes) + bytes <= most_;
}

// Opens the lock file again, so that it also excludes threads and forked processes.
Bytes RangeCache::tidy(Bytes most) {
  const std::string path = join_path(folder_, "lock");
  const Fd lock(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (lock < 0 || ::flock(lock, LOCK_EX | LOCK_NB) != 0) return most_;
  std::vector<Entry> entries = files();
  Bytes total = 0;
  for (const Entry& entry : entries) total += entry.size;
  if (total > most) {
    std::sort(entries.begin(), entries.end(),
              [](const Entry& a, const Entry& b) { return a.used_at < b.used_at; });
  }
  for (const Entry& entry : entries) {
    if (total <= most) break;
    if (::unlink(entry.path.c_str()) != 0) continue;
    total -= entry.size;
    ++state_->evicted;
    state_->bytes_evicted += entry.size;
  }
  used_->store(total);
  return total;
}

}  // namespace loaderscope::source
