#include "dataset/files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <utility>

namespace loaderscope::dataset {
namespace {

namespace fs = std::filesystem;

std::string_view next_step(int error) {
  switch (error) {
    case ENOSPC:
    case EDQUOT:
      return "make room, or give a folder on a larger disk, and run the same command again";
    case EACCES:
    case EPERM:
    case EROFS:
      return "give a folder that you may write to";
    case ENOTDIR:
    case EEXIST:
      return "give a folder, not a file";
    case ENAMETOOLONG:
      return "give a shorter path";
    default:
      return "give another folder";
  }
}

std::string hidden_name(const std::string& path) {
  const fs::path target(path);
  return (target.parent_path() / ("." + target.filename().string() + ".part")).string();
}

// 0, or the errno of what failed.
int write_bytes(int fd, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(fd, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return errno;
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
  return 0;
}

}  // namespace

RunError cannot_write(const std::string& path, int error) {
  return RunError(fmt::format("{}: cannot be written ({})", shown_text(path), std::strerror(error)),
                  std::string(next_step(error)));
}

FolderLock::FolderLock(const std::string& path)
    : fd_(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
  if (fd_ < 0) throw cannot_write(path, errno);
  // Some network file systems have no locks: then there is none.
  if (::flock(fd_, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
    ::close(fd_);
    throw RunError(shown_text(path) + ": another process is making this data set",
                   "wait for its end");
  }
}

FolderLock::~FolderLock() { ::close(fd_); }

void FolderLock::sync() const { ::syncfs(fd_); }

WholeFile::WholeFile(std::string path)
    : path_(std::move(path)),
      part_(hidden_name(path_)),
      fd_(::open(part_.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666)) {
  if (fd_ < 0) throw cannot_write(path_, errno);
}

WholeFile::~WholeFile() {
  if (fd_ >= 0) ::close(fd_);
  if (!part_.empty()) ::unlink(part_.c_str());
}

void WholeFile::append(std::span<const std::byte> bytes) { check(write_bytes(fd_, bytes)); }

void WholeFile::put(Bytes offset, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::pwrite(fd_, bytes.data(), bytes.size(), offset);
    if (written < 0 && errno == EINTR) continue;
    check(written < 0 ? errno : 0);
    offset += written;
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
}

std::size_t WholeFile::read(Bytes offset, std::span<std::byte> to) const {
  ssize_t got = 0;
  do {
    got = ::pread(fd_, to.data(), to.size(), offset);
  } while (got < 0 && errno == EINTR);
  check(got < 0 ? errno : 0);
  return static_cast<std::size_t>(got);
}

void WholeFile::finish() {
  check(::close(std::exchange(fd_, -1)) != 0 ? errno : 0);
  check(::rename(part_.c_str(), path_.c_str()) != 0 ? errno : 0);
  part_.clear();
}

LibraryFile::LibraryFile(std::string path) : path_(std::move(path)), part_(hidden_name(path_)) {
  ::unlink(part_.c_str());
}

LibraryFile::~LibraryFile() {
  if (!part_.empty()) ::unlink(part_.c_str());
}

Bytes LibraryFile::bytes() const {
  std::error_code error;
  const std::uintmax_t size = fs::file_size(part_.empty() ? path_ : part_, error);
  return error ? 0 : static_cast<Bytes>(size);
}

void LibraryFile::finish() {
  if (::rename(part_.c_str(), path_.c_str()) != 0) throw cannot_write(path_, errno);
  part_.clear();
}

void WholeFile::check(int error) const {
  if (error != 0) throw cannot_write(path_, error);
}

void write_whole(const std::string& path, std::span<const std::byte> bytes) {
  WholeFile file(path);
  file.append(bytes);
  file.finish();
}

void make_folder(const std::string& path) {
  std::error_code error;
  fs::create_directories(path, error);
  if (error) throw cannot_write(path, error.value());
  if (!fs::is_directory(path, error)) throw cannot_write(path, ENOTDIR);
}

bool is_written(const std::string& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode) && status.st_size > 0;
}

bool is_free(const std::string& path) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (status.type() == fs::file_type::not_found) return true;
  if (error) throw cannot_write(path, error.value());
  if (!fs::is_directory(status)) throw cannot_write(path, ENOTDIR);
  const bool empty = fs::is_empty(path, error);
  if (error) throw cannot_write(path, error.value());
  return empty;
}

void demand_space(const std::string& path, double bytes, std::string_view remedy) {
  struct statvfs disk {};
  if (::statvfs(path.c_str(), &disk) != 0) return;
  const double free = static_cast<double>(disk.f_bavail) * static_cast<double>(disk.f_frsize);
  if (bytes <= free) return;
  throw RunError(fmt::format("{}: the images need about {} and {} are free", shown_text(path),
                             format_size(bytes), format_size(free)),
                 fmt::format("make room or {}", remedy));
}

namespace {

constexpr std::size_t kHeld = std::size_t{1} << 20;

}  // namespace

OutputFile::OutputFile(const std::string& path, const CompressionRow* compression)
    : file_(path), packer_(compression != nullptr ? compression->make_packer() : nullptr) {}

void OutputFile::append(std::span<const std::byte> bytes) {
  if (!packer_) return hold(bytes);
  packed_.clear();
  packer_->pack(bytes, packed_);
  hold(packed_);
}

void OutputFile::append_file(OutputFile& other) {
  other.flush();
  if (packer_) packer_->expect(static_cast<std::uint64_t>(other.bytes()));
  std::vector<std::byte> piece(kHeld);
  for (Bytes at = 0; const std::size_t got = other.file_.read(at, piece);) {
    append(std::span(piece).first(got));
    at += static_cast<Bytes>(got);
  }
}

void OutputFile::put(Bytes offset, std::span<const std::byte> bytes) {
  flush();
  file_.put(offset, bytes);
}

void OutputFile::finish() {
  if (packer_) {
    packed_.clear();
    packer_->finish(packed_);
    hold(packed_);
  }
  flush();
  file_.finish();
}

void OutputFile::hold(std::span<const std::byte> bytes) {
  bytes_ += std::ssize(bytes);
  if (held_.size() + bytes.size() > kHeld) flush();
  if (bytes.size() > kHeld) {
    file_.append(bytes);
    return;
  }
  held_.insert(held_.end(), bytes.begin(), bytes.end());
}

void OutputFile::flush() {
  file_.append(held_);
  held_.clear();
}

}  // namespace loaderscope::dataset
