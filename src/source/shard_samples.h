// The samples of one shard, in order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "source/read_counts.h"
#include "source/tar.h"
#include "source/unpacked_shard.h"

namespace loaderscope::source {

// Settings and counts for the shards of one stream.
struct ShardReading {
  std::string member;  // the extension of what is decoded; "": the first image
  AccessOptions access;
  ReadCounts counts;
};

// A sample in memory of its own, which is reused.
class HeldSample {
 public:
  std::int64_t number = 0;
  std::string name;        // name of the member
  Bytes stored_bytes = 0;  // see SampleStream

  std::span<std::byte> take(std::size_t bytes);
  std::span<const std::byte> bytes() const { return {memory_.get(), bytes_}; }

 private:
  std::unique_ptr<std::byte[]> memory_;
  std::size_t room_ = 0, bytes_ = 0;
};

class ShardSamples {
 public:
  // Returns a number that is unique among shards, if there are fewer than 2^31.
  static constexpr int kPlaceBits = 32;
  static std::int64_t number(std::int64_t shard, std::int64_t place) {
    return shard << kPlaceBits | place;
  }

  // Throw SampleError. The constructor opens the shard. All references outlive it.
  ShardSamples(const std::string& path, std::int64_t shard, const ShardReading& reading,
               SubstageListener& stages);
  // Reads the next sample. Returns false at the end. Sets the number of `to`, and its name if
  // known, also if it throws. A damaged or truncated shard ends after the exception.
  bool next(HeldSample& to);

  const MemberChooser& chooser() const { return chooser_; }
  // Null: the shard is as it is stored.
  const CompressionRow* compression() const { return compression_; }
  Bytes memory() const;

 private:
  ShardBytes& unpacked(SubstageListener& stages);
  std::optional<TarMember> next_member();
  Bytes take_stored_bytes(const TarMember& member);
  void read(const TarMember& member, HeldSample& to);

  const ShardReading& reading_;
  std::int64_t next_;
  std::unique_ptr<WholeShard> stored_;
  const CompressionRow* compression_;
  std::optional<UnpackedShard> unpacked_;
  ShardBytes& bytes_;
  Bytes taken_ = 0;  // packed bytes of the samples so far
  TarWalk walk_;
  MemberChooser chooser_;
  bool over_ = false;
};

}  // namespace loaderscope::source
