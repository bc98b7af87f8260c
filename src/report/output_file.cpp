#include "report/output_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

#include "base/failure_text.h"
#include "base/private_folder.h"

namespace loaderscope {
namespace {

namespace fs = std::filesystem;

RunError cannot_write(const std::string& path, int error) {
  std::string next = exhaustion_hint(error);
  if (error == ENOSPC) next = "free some space or name another place";
  if (error == EACCES || error == EPERM) next = "name another place";
  return RunError(path + ": cannot write the result (" + std::strerror(error) + ")", next);
}

class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return fd_; }
  int close() {  // 0 or errno
    const int result = ::close(std::exchange(fd_, -1));
    return result == 0 ? 0 : errno;
  }

 private:
  int fd_;
};

// A device or a pipe: nothing that a rename may replace.
bool is_special(const fs::path& path) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  return fs::exists(status) && !fs::is_regular_file(status) && !fs::is_directory(status);
}

// The file that is really written. A link is followed, so that renaming does not replace the link.
fs::path link_target(const std::string& path) {
  std::error_code error;
  const fs::path target = fs::canonical(path, error);
  return error ? fs::path(path) : target;
}

constexpr mode_t kForThisUser = 0600;

// The mode of the file that is there, else what the umask leaves.
mode_t mode_for(const fs::path& target) {
  struct stat info {};
  if (::stat(target.c_str(), &info) == 0) return info.st_mode & 07777;
  const mode_t mask = ::umask(0);
  ::umask(mask);
  return 0666 & ~mask;
}

// A temporary file in the folder of the target. Removed with the object unless it was renamed.
class TemporaryFile {
 public:
  TemporaryFile(const std::string& shown_path, const fs::path& target, mode_t mode)
      : shown_path_(shown_path),
        target_(target),
        name_(target.string() + ".XXXXXX"),
        file_(::mkostemp(name_.data(), O_CLOEXEC)) {
    if (file_.get() < 0) throw cannot_write(shown_path_, errno);
    keep_owner();
    ::fchmod(file_.get(), mode);
  }
  ~TemporaryFile() {
    if (!renamed_) ::unlink(name_.c_str());
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;

  int fd() const { return file_.get(); }
  void rename_to_target() {
    if (const int error = file_.close()) throw cannot_write(shown_path_, error);
    if (::rename(name_.c_str(), target_.c_str()) != 0) throw cannot_write(shown_path_, errno);
    renamed_ = true;
  }

 private:
  // The file of another user stays theirs, as far as this user may.
  void keep_owner() const {
    struct stat old {
    }, now{};
    if (::stat(target_.c_str(), &old) != 0 || ::fstat(file_.get(), &now) != 0) return;
    if (old.st_uid == now.st_uid && old.st_gid == now.st_gid) return;
    if (::fchown(file_.get(), old.st_uid, old.st_gid) != 0) return;
  }

  std::string shown_path_;
  fs::path target_;
  std::string name_;
  Descriptor file_;
  bool renamed_ = false;
};

void stream_to(int fd, const std::string& path, const std::function<void(std::ostream&)>& write) {
  FdBuffer buffer(fd);
  std::ostream stream(&buffer);
  write(stream);
  stream.flush();
  if (buffer.error() != 0) throw cannot_write(path, buffer.error());
}

void check_folder(const std::string& path, const fs::path& target) {
  const fs::path folder = target.has_parent_path() ? target.parent_path() : fs::path(".");
  std::error_code error;
  if (!fs::exists(folder, error)) {
    throw RunError(path + ": the folder " + folder.string() + " does not exist", "make it first");
  }
  if (!fs::is_directory(folder, error)) {
    throw RunError(path + ": " + folder.string() + " is not a folder", "name another place");
  }
  struct statvfs space {};
  if (::statvfs(folder.c_str(), &space) == 0 && space.f_blocks > 0 && space.f_bavail == 0) {
    throw cannot_write(path, ENOSPC);
  }
}

}  // namespace

FdBuffer::FdBuffer(int fd) : fd_(fd) { setp(buffer_.data(), buffer_.data() + buffer_.size()); }

bool FdBuffer::drain() {
  const char* at = pbase();
  while (at != pptr() && error_ == 0) {
    const ssize_t written = ::write(fd_, at, static_cast<std::size_t>(pptr() - at));
    if (written >= 0) {
      at += written;
    } else if (errno != EINTR) {
      error_ = errno;
    }
  }
  setp(buffer_.data(), buffer_.data() + buffer_.size());
  return error_ == 0;
}

FdBuffer::int_type FdBuffer::overflow(int_type c) {
  if (!drain()) return traits_type::eof();
  if (!traits_type::eq_int_type(c, traits_type::eof())) sputc(traits_type::to_char_type(c));
  return traits_type::not_eof(c);
}

int FdBuffer::sync() { return drain() ? 0 : -1; }

StandardOutput::StandardOutput() : buffer_(STDOUT_FILENO), stream_(&buffer_) {}

ExitCode StandardOutput::finish() {
  stream_.flush();
  if (buffer_.error() != 0 && buffer_.error() != EPIPE) {
    throw cannot_write("standard output", buffer_.error());
  }
  return ExitCode::ok;
}

void check_output(const std::string& path, const OutputRules& rules) {
  if (path == "-") return;
  std::error_code error;
  if (fs::is_directory(path, error)) throw RunError(path + ": is a folder", "name a file in it");
  if (fs::exists(path, error) && ::access(path.c_str(), W_OK) != 0) throw cannot_write(path, errno);
  if (fs::exists(path, error)) refuse_to_replace(path, rules);
  if (is_special(path)) return;
  const fs::path target = link_target(path);
  check_folder(path, target);
  TemporaryFile probe(path, target, mode_for(target));
}

void write_output(const std::string& path, const std::function<void(std::ostream&)>& write) {
  if (path == "-") {
    StandardOutput out;
    write(out.stream());
    out.finish();
    return;
  }
  if (is_special(path)) {
    Descriptor file(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
    if (file.get() < 0) throw cannot_write(path, errno);
    stream_to(file.get(), path, write);
    return;
  }
  const fs::path target = link_target(path);
  TemporaryFile file(path, target, mode_for(target));
  stream_to(file.fd(), path, write);
  file.rename_to_target();
}

void write_private(const std::string& path, const std::function<void(std::ostream&)>& write) {
  const fs::path target(path);
  if (const int error = make_private_folders(target.parent_path().string()))
    throw RunError(fmt::format("{} cannot be made: {}", shown_text(target.parent_path().string()),
                               std::strerror(error)),
                   "set XDG_CACHE_HOME");
  TemporaryFile file(path, target, kForThisUser);
  stream_to(file.fd(), path, write);
  file.rename_to_target();
}

}  // namespace loaderscope
