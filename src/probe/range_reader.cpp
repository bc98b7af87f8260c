#include "probe/range_reader.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <limits>
#include <mutex>
#include <new>
#include <system_error>

#include "base/thread_meter.h"
#include "base/thread_team.h"
#include "loaderscope/errors.h"
#include "source/kernel_access.h"
#include "source/residency.h"

namespace loaderscope::probe {
namespace {

constexpr Bytes kPage = 4096;  // largest alignment for O_DIRECT, nearly everywhere

[[noreturn]] void refuse(const std::string& path, int error) {
  throw RunError(fmt::format("{} cannot be read ({})", shown_text(path),
                             std::generic_category().message(error)),
                 "look at its permissions and storage");
}

Fd opened(const std::string& path, int flags) {
  Fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | flags));
  if (file < 0) refuse(path, errno);
  return file;
}

}  // namespace

void RangeReader::open(const std::string& path) {
  if (path == path_) return;
  file_ = opened(path, way_ == ReadMode::direct ? O_DIRECT : 0);
  path_ = path;
  // Prevents readahead past the sample.
  if (way_ == ReadMode::cold) ::posix_fadvise(file_, 0, 0, POSIX_FADV_RANDOM);
}

std::byte* RangeReader::room_for(std::size_t bytes) {
  if (bytes > size_) {
    room_.reset(
        static_cast<std::byte*>(std::aligned_alloc(static_cast<std::size_t>(kPage), bytes)));
    if (!room_) throw std::bad_alloc();
    size_ = bytes;
  }
  return room_.get();
}

Bytes RangeReader::read(const FileRange& piece) {
  open(piece.path);
  const bool is_direct = way_ == ReadMode::direct;
  const Bytes begin = is_direct ? piece.offset / kPage * kPage : piece.offset;
  const Bytes asked = piece.offset + piece.length - begin;
  const auto whole = static_cast<std::size_t>((asked + kPage - 1) / kPage * kPage);
  std::byte* room = room_for(whole);
  const std::size_t wanted = is_direct ? whole : static_cast<std::size_t>(asked);
  const ReadAt got = read_at(file_, begin, {room, wanted});
  if (got.error != 0) refuse(piece.path, got.error);
  return std::min(static_cast<Bytes>(got.bytes), piece.length);
}

std::string why_not_direct(const FileRange& piece) {
  const Fd file = opened(piece.path, 0);
  const source::DirectReads direct = source::this_kernel().direct_reads(file);
  if (direct.alignment == 0) return direct.refusal;
  return static_cast<Bytes>(direct.alignment) <= kPage
             ? ""
             : fmt::format("it wants reads of {} bytes", direct.alignment);
}

bool forget(const std::vector<FileRange>& pieces) {
  constexpr double kLeft = 0.01;  // neighbours in a page that others use
  static const source::ResidencyMethod method = source::best_residency_method();
  Bytes all = 0, left = 0;
  bool is_known = true;
  std::string path;
  Fd file;
  for (const FileRange& piece : pieces) {
    if (piece.path != path) file = opened(piece.path, 0);
    path = piece.path;
    ::posix_fadvise(file, piece.offset / kPage * kPage, piece.length + kPage, POSIX_FADV_DONTNEED);
    const auto residency = source::read_residency(file, method, piece.offset, piece.length);
    is_known = is_known && residency.has_value();
    if (!residency) continue;
    all += residency->size;
    left += residency->resident;
  }
  return is_known && static_cast<double>(left) <= kLeft * static_cast<double>(all);
}

void open_and_close(const std::string& path) {
  const Fd file = opened(path, 0);
  struct stat facts {};
  if (::fstat(file, &facts) != 0) refuse(path, errno);
}

Done read_by(int threads, const std::function<ReadOne()>& make, Nanos time,
             const std::atomic<int>& stop) {
  std::mutex mutex;
  Done all;
  all.begin = std::numeric_limits<Nanos>::max();
  ThreadTeam team(&stop);
  const Nanos until = monotonic_now() + time;
  const auto work = [&] {
    const ReadOne read = make();
    Done own;
    own.begin = own.end = monotonic_now();
    while (own.end < until && !team.stopping()) {
      const double bytes = read();
      if (bytes < 0) break;
      own.end = monotonic_now();
      own.bytes += bytes;
      ++own.reads;
    }
    const std::lock_guard lock(mutex);
    all.bytes += own.bytes;
    all.reads += own.reads;
    all.thread_s += seconds(own.end - own.begin);
    if (own.reads == 0) return;
    all.begin = std::min(all.begin, own.begin);
    all.end = std::max(all.end, own.end);
  };
  team.run_concurrently(threads, work, [] {});
  return all;
}

void Speeds::add(const Done& done) {
  if (done.reads <= 0 || done.end <= done.begin) return;
  rates_.push_back(done.bytes / seconds(done.end - done.begin));
  reads_ += done.reads;
  thread_s_ += done.thread_s;
}

std::optional<Speed> Speeds::speed() {
  if (rates_.empty()) return std::nullopt;
  std::sort(rates_.begin(), rates_.end());
  const double median = rates_[rates_.size() / 2];
  return Speed{median, median > 0 ? (rates_.back() - rates_.front()) / 2 / median : 0,
               thread_s_ / reads_, reads_};
}

}  // namespace loaderscope::probe
