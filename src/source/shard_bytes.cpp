#include "source/shard_bytes.h"

#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "loaderscope/errors.h"
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

UnpackedShard::UnpackedShard(ShardBytes& packed, const CompressionRow& row,
                             const ReadCounts& counts, SubstageListener& stages)
    : packed_(packed),
      row_(row),
      counts_(counts),
      stages_(stages),
      unpacker_(row.make()),
      packed_piece_(kAtOnce),
      piece_(kAtOnce) {}

// Returns 0 at the end of the packed bytes.
std::size_t UnpackedShard::unpack(std::span<std::byte> to) {
  Unpacker::Step all;
  while (all.given < to.size()) {
    if (packed_left_.empty()) refill();
    const Unpacking scope(stages_);
    const Unpacker::Step step = unpacker_->unpack(packed_left_, to.subspan(all.given));
    if (step.taken == 0 && step.given == 0) break;
    packed_left_ = packed_left_.subspan(step.taken);
    all.taken += step.taken;
    all.given += step.given;
  }
  counts_.count_unpacked(static_cast<Bytes>(all.taken), static_cast<Bytes>(all.given));
  if (all.given == 0 && !unpacker_->is_complete()) {
    throw SampleError(SampleError::Kind::truncated,
                      fmt::format("its {} data end early: the shard is cut", row_.row.name));
  }
  return all.given;
}

void UnpackedShard::refill() {
  const std::size_t got = packed_.read(packed_at_, packed_piece_);
  packed_at_ += static_cast<Bytes>(got);
  packed_left_ = std::span(packed_piece_).first(got);
}

bool UnpackedShard::has_more() {
  if (left_.empty()) left_ = std::span(piece_).first(unpack(piece_));
  return !left_.empty();
}

void UnpackedShard::take(std::size_t bytes) {
  left_ = left_.subspan(bytes);
  at_ += static_cast<Bytes>(bytes);
}

// Reads of a whole piece or more are unpacked directly to their place.
std::size_t UnpackedShard::read(Bytes begin, std::span<std::byte> to) {
  while (at_ < begin && has_more())
    take(std::min(left_.size(), static_cast<std::size_t>(begin - at_)));
  std::size_t done = 0;
  while (done < to.size()) {
    const std::span<std::byte> rest = to.subspan(done);
    if (left_.empty() && rest.size() >= kAtOnce) {
      const std::size_t given = unpack(rest);
      at_ += static_cast<Bytes>(given);
      return done + given;
    }
    if (!has_more()) break;
    const std::size_t bytes = std::min(left_.size(), rest.size());
    std::memcpy(rest.data(), left_.data(), bytes);
    take(bytes);
    done += bytes;
  }
  return done;
}

void UnpackedShard::check_rest() {
  const Bytes end = at_ + kMaxTrailing;
  while (at_ < end && has_more()) take(left_.size());
}

}  // namespace loaderscope::source
