#include "source/shard_samples.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <cerrno>
#include <utility>

#include "loaderscope/errors.h"
#include "source/extent_opener.h"

namespace loaderscope::source {
namespace {

using Kind = SampleError::Kind;

// Not blocking, so that a pipe among the shards cannot keep the worker.
Fd opened(const std::string& path, const ReadCounts& counts) {
  Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat facts {};
  if (fd < 0 || ::fstat(fd, &facts) != 0) fail_to_open(path, errno);
  if (!S_ISREG(facts.st_mode)) throw SampleError(Kind::unreadable, "is not a regular file");
  counts.count_opened();
  return fd;
}

}  // namespace

std::span<std::byte> HeldSample::take(std::size_t bytes) {
  if (bytes > room_) {
    memory_.reset();
    room_ = 0;
    memory_ = std::make_unique_for_overwrite<std::byte[]>(bytes);
    room_ = bytes;
  }
  bytes_ = bytes;
  return {memory_.get(), bytes};
}

ShardSamples::ShardSamples(const std::string& path, std::int64_t shard, const ShardReading& reading,
                           StageSink& stages)
    : reading_(reading),
      next_(number(shard, 0)),
      file_(opened(path, reading.counts)),
      stored_(file_, reading.counts),
      compression_(compression_of(stored_)),
      bytes_(unpacked(stages)),
      walk_(bytes_),
      chooser_(reading.member) {}

ShardBytes& ShardSamples::unpacked(StageSink& stages) {
  if (compression_ == nullptr) return stored_;
  if (compression_->make == nullptr)
    throw SampleError(Kind::unsupported, why_not_read(*compression_));
  return unpacked_.emplace(stored_, *compression_, reading_.counts, stages);
}

Bytes ShardSamples::memory() const {
  return static_cast<Bytes>(WholeShard::kAtOnce) + (unpacked_ ? unpacked_->memory() : 0);
}

// Behind what cannot be read there is nothing.
std::optional<TarMember> ShardSamples::next_member() {
  over_ = true;
  std::optional<TarMember> member = walk_.next();
  if (!member && unpacked_) unpacked_->check_rest();
  over_ = !member;
  return member;
}

bool ShardSamples::next(HeldSample& to) {
  to.number = next_;
  to.name.clear();
  try {
    while (!over_) {
      std::optional<TarMember> member = next_member();
      if (!member) {
        chooser_.end_shard();
      } else if (chooser_.takes(member->name)) {
        ++next_;
        to.name = std::move(member->name);
        read(*member, to);
        return true;
      }
    }
  } catch (const ValueError& error) {
    throw SampleError(Kind::damaged, error.what());
  }
  return false;
}

void ShardSamples::read(const TarMember& member, HeldSample& to) {
  if (member.size <= 0) throw SampleError(Kind::truncated, "is empty");
  if (member.size > reading_.largest_sample) {
    throw SampleError(Kind::too_large,
                      fmt::format("has {} bytes, more than the {} that a sample may have",
                                  member.size, reading_.largest_sample));
  }
  const auto size = static_cast<std::size_t>(member.size);
  over_ = true;
  const std::size_t got = bytes_.read(member.begin, to.take(size));
  over_ = got < size;
  if (over_) {
    throw SampleError(Kind::truncated,
                      fmt::format("the shard ends after {} of its {} bytes", got, size));
  }
  to.stored_bytes = take_stored_bytes(member);
  reading_.counts.count_sample(member.size);
}

Bytes ShardSamples::take_stored_bytes(const TarMember& member) {
  if (!unpacked_) return member.size;
  const Bytes before = std::exchange(taken_, unpacked_->packed_bytes());
  return taken_ - before;
}

}  // namespace loaderscope::source
