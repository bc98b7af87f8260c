#include "source/shard_bytes.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <system_error>

#include "base/fd.h"
#include "loaderscope/errors.h"
#include "source/extent_opener.h"
#include "source/read_counts.h"

namespace loaderscope::source {
namespace {

// What there is from `begin` on; `failed` is told errno and does not return.
template <class Failed>
std::size_t read_or_fail(int fd, Bytes begin, std::span<std::byte> to, const Failed& failed) {
  const ReadAt got = read_at(fd, begin, to);
  if (got.error != 0) failed(got.error);
  return got.bytes;
}

}  // namespace

std::size_t PiecesOfShard::read(Bytes begin, std::span<std::byte> to) {
  return read_or_fail(fd_, begin, to, [](int error) {
    throw ValueError("cannot be read: " + std::generic_category().message(error));
  });
}

WholeShard::WholeShard(int fd, const ReadCounts& counts)
    : fd_(fd), counts_(counts), chunk_(kAtOnce) {
  ::posix_fadvise(fd, 0, 0, POSIX_FADV_SEQUENTIAL);  // a hint: what comes of it does not matter
}

std::size_t WholeShard::ask(Bytes begin, std::span<std::byte> to) const {
  const std::size_t got = read_or_fail(fd_, begin, to, fail_to_read);
  counts_.count_request(static_cast<Bytes>(got));
  return got;
}

// What is large goes straight to its place.
std::size_t WholeShard::read(Bytes begin, std::span<std::byte> to) {
  std::size_t done = 0;
  while (done < to.size()) {
    const Bytes at = begin + static_cast<Bytes>(done), behind = at - chunk_begin_;
    if (behind >= 0 && behind < static_cast<Bytes>(chunk_bytes_)) {
      const auto from = static_cast<std::size_t>(behind);
      const std::size_t bytes = std::min(chunk_bytes_ - from, to.size() - done);
      std::memcpy(to.data() + done, chunk_.data() + from, bytes);
      done += bytes;
    } else if (to.size() - done >= kAtOnce) {
      return done + ask(at, to.subspan(done));
    } else {
      chunk_begin_ = at;
      chunk_bytes_ = ask(at, chunk_);
      if (chunk_bytes_ == 0) break;
    }
  }
  return done;
}

}  // namespace loaderscope::source
