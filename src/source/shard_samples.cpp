#include "source/shard_samples.h"

#include <fmt/format.h>

#include <utility>

#include "loaderscope/errors.h"
#include "source/store.h"

namespace loaderscope::source {
namespace {

using Kind = SampleError::Kind;

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
                           SubstageListener& stages)
    : reading_(reading),
      next_(number(shard, 0)),
      stored_(store_of(path).open_whole(path, reading.access, reading.counts)),
      compression_(compression_of(*stored_)),
      bytes_(unpacked(stages)),
      walk_(bytes_),
      chooser_(reading.member) {}

ShardBytes& ShardSamples::unpacked(SubstageListener& stages) {
  if (compression_ == nullptr) return *stored_;
  if (compression_->make == nullptr)
    throw SampleError(Kind::unsupported, why_not_read(*compression_));
  return unpacked_.emplace(*stored_, *compression_, reading_.counts, stages);
}

Bytes ShardSamples::memory() const {
  return stored_->memory() + (unpacked_ ? unpacked_->memory() : 0);
}

// Returns the next member. A failure ends the shard.
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
        if (member->is_sparse) throw SampleError(Kind::unsupported, std::string(kSparse));
        read(*member, to);
        return true;
      } else if (chooser_.repeats()) {
        ++next_;
        to.name = std::move(member->name);
        throw SampleError(Kind::damaged, std::string(kRepeated));
      }
    }
  } catch (const ValueError& error) {
    throw SampleError(Kind::damaged, error.what());
  }
  return false;
}

void ShardSamples::read(const TarMember& member, HeldSample& to) {
  if (member.size <= 0) throw SampleError(Kind::truncated, "is empty");
  if (member.size > reading_.access.largest_sample) {
    throw SampleError(Kind::too_large,
                      fmt::format("has {} bytes, more than the {} that a sample may have",
                                  member.size, reading_.access.largest_sample));
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
