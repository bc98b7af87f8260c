#include "experiment/history_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <optional>

#include "base/fd.h"
#include "base/private_folder.h"

namespace loaderscope {
namespace {

constexpr std::size_t kMaxBytes = 16 << 10;  // beyond it the older half goes
constexpr int kFlags = O_RDWR | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW;

// The file, locked; nothing when it is not a file of this user.
std::optional<Fd> opened(const std::string& path, int flags, int lock) {
  if (path.empty()) return std::nullopt;
  Fd fd(::open(path.c_str(), flags, 0600));
  struct stat facts {};
  if (fd < 0 || ::fstat(fd, &facts) != 0 || !S_ISREG(facts.st_mode) ||
      facts.st_uid != ::geteuid() || ::flock(fd, lock) != 0) {
    return std::nullopt;
  }
  return fd;
}

// The last `most` bytes, from the beginning of a line on.
std::string tail_of(int fd, std::size_t most) {
  struct stat facts {};
  if (::fstat(fd, &facts) != 0) return "";
  const auto size = static_cast<std::size_t>(facts.st_size);
  const std::size_t skipped = size > most ? size - most : 0;
  std::string text(size - skipped, '\0');
  const ssize_t got = ::pread(fd, text.data(), text.size(), static_cast<off_t>(skipped));
  text.resize(static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
  if (skipped > 0) text.erase(0, std::min(text.size(), text.find('\n') + 1));
  return text;
}

}  // namespace

HistoryFile::HistoryFile(const std::string& folder, const std::string& name) : folder_(folder) {
  if (!folder_.empty()) file_ = folder_ + "/" + name;
}

void HistoryFile::add(const std::string& line) const {
  if (file_.empty()) return;
  make_private_folders(folder_);
  const auto fd = opened(file_, kFlags | O_CREAT, LOCK_EX);
  if (!fd) return;
  struct stat facts {};
  if (::fstat(*fd, &facts) != 0) return;
  std::string text = line + "\n";
  off_t at = facts.st_size;
  if (static_cast<std::size_t>(at) > kMaxBytes) {
    text = tail_of(*fd, kMaxBytes / 2) + text;
    at = 0;
    if (::ftruncate(*fd, 0) != 0) return;
  }
  // A line that is cut short is one that cannot be read.
  static_cast<void>(::pwrite(*fd, text.data(), text.size(), at) < 0);
}

std::string HistoryFile::text() const {
  const auto fd = opened(file_, kFlags, LOCK_SH);
  return fd ? tail_of(*fd, kMaxBytes) : "";
}

void for_each_line(std::string_view text, const std::function<void(std::string_view line)>& take) {
  for (std::string_view rest = text; !rest.empty();) {
    const auto end = std::min(rest.find('\n'), rest.size());
    take(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
}

}  // namespace loaderscope
