#include "source/shard_bytes.h"

#include <fcntl.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "source/extent_opener.h"
#include "source/read_counts.h"

namespace loaderscope::source {
WholeFile::WholeFile(Fd fd, const ReadCounts& counts)
    : fd_(std::move(fd)), counts_(counts), chunk_(kAtOnce) {
  ::posix_fadvise(fd_, 0, 0, POSIX_FADV_SEQUENTIAL);  // a hint: what comes of it does not matter
}

std::size_t WholeFile::ask(Bytes begin, std::span<std::byte> to) const {
  const ReadAt got = read_at(fd_, begin, to);
  if (got.error != 0) fail_to_read(got.error);
  counts_.count_request(static_cast<Bytes>(got.bytes));
  return got.bytes;
}

// Reads large parts directly to their place.
std::size_t WholeFile::read(Bytes begin, std::span<std::byte> to) {
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
