#include "source/tar_stream.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "loaderscope/cost.h"
#include "loaderscope/errors.h"
#include "source/store.h"

namespace loaderscope::source {
namespace {

constexpr std::uint32_t kSalt = 97;    // salt of random choices from the buffer
constexpr std::size_t kInitial = 100;  // in the buffer before the first is drawn, as webdataset's
constexpr std::uint64_t kGolden = 0x9e3779b97f4a7c15;

// webdataset's split_by_node, then its split_by_worker.
std::vector<std::int64_t> own_shards(const StreamConsumer& part, std::int64_t shards) {
  std::vector<std::int64_t> own;
  const std::int64_t first = std::int64_t{part.worker} * part.ranks + part.rank;
  const std::int64_t step = std::int64_t{part.workers} * part.ranks;
  for (std::int64_t shard = first; shard < shards; shard += step) own.push_back(shard);
  return own;
}

}  // namespace

TarStream::TarStream(const std::vector<std::string>& shards, const ShardReading& reading,
                     std::int64_t buffer, const StreamConsumer& part, SubstageListener& stages)
    : shards_(shards),
      reading_(reading),
      stages_(stages),
      buffer_size_(static_cast<std::size_t>(buffer)),
      seed_(part.seed + kGolden * (static_cast<std::uint64_t>(part.worker) *
                                       static_cast<std::uint64_t>(part.ranks) +
                                   static_cast<std::uint64_t>(part.rank))),
      own_(own_shards(part, std::ssize(shards))) {}

void TarStream::begin_epoch(std::int64_t epoch) {
  epoch_ = epoch;
  drawn_ = 0;
  next_shard_ = 0;
  shard_.reset();
  buffer_.clear();
}

// The next sample in the order of the shards; false at the end.
bool TarStream::read(HeldSample& to) {
  const std::int64_t shards = std::ssize(own_);
  for (;;) {
    if (!shard_) {
      const auto turn = static_cast<std::int64_t>(next_shard_);
      if (turn == shards) return false;
      ++next_shard_;
      const std::int64_t chosen =
          buffer_size_ > 0 ? shuffled_index(turn, shards, seed_, epoch_) : turn;
      const std::int64_t shard = own_[static_cast<std::size_t>(chosen)];
      to.number = ShardSamples::number(shard, 0);
      to.name.clear();
      shard_.emplace(shards_[static_cast<std::size_t>(shard)], shard, reading_, stages_);
    }
    if (shard_->next(to)) return true;
    if (epoch_ == 0) reading_.counts.count_left_out(shard_->chooser().left_out());
    shard_.reset();
  }
}

bool TarStream::add_to_buffer() {
  if (!read(spare_)) return false;
  buffer_.push_back(std::exchange(spare_, {}));
  return true;
}

// One of the buffer, in place of the one that was held before.
void TarStream::draw() {
  const double u = uniform_draw(seed_, epoch_, drawn_++, Stage::read, kSalt);
  HeldSample& drawn = buffer_[static_cast<std::size_t>(u * static_cast<double>(buffer_.size()))];
  spare_ = std::exchange(held_, std::move(drawn));
  if (&drawn != &buffer_.back()) drawn = std::move(buffer_.back());
  buffer_.pop_back();
}

// Shuffles as webdataset does: the buffer grows by one with each sample drawn, so that the first
// batch does not wait until it is full.
std::optional<std::span<const std::byte>> TarStream::next() {
  try {
    if (buffer_size_ == 0) {
      if (!read(held_)) return std::nullopt;
    } else {
      const std::size_t initial = std::min(kInitial, buffer_size_);
      while (add_to_buffer()) {
        if (buffer_.size() < buffer_size_) add_to_buffer();
        if (buffer_.size() >= initial) break;
      }
      if (buffer_.empty()) return std::nullopt;
      draw();
    }
  } catch (const SampleError&) {
    set_last(buffer_size_ == 0 ? held_ : spare_);
    throw;
  }
  set_last(held_);
  return held_.bytes();
}

std::string TarStream::place() const {
  const auto shard = static_cast<std::size_t>(last_.number >> ShardSamples::kPlaceBits);
  return last_.name.empty() ? shards_[shard] : shards_[shard] + ": " + last_.name;
}

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
      stored_(find_store(path).open_whole(path, reading.access, reading.counts)),
      compression_(detect_compression(*stored_)),
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
