// Shards as streams: who reads them owns the order, and no index is made. As webdataset does it:
// shards are split by rank and then by worker; each worker shuffles its own, and draws the samples
// that it reads one after another from a buffer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "loaderscope/source.h"
#include "source/options.h"
#include "source/read_counts.h"
#include "source/shard_bytes.h"
#include "source/tar.h"

namespace loaderscope::source {

// The samples of one shard, in order.

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

class TarStream final : public SampleStream {
 public:
  // `buffer`: how many samples are drawn from; 0: all come in their order. What is given by
  // reference outlives the stream.
  TarStream(const std::vector<std::string>& shards, const ShardReading& reading,
            std::int64_t buffer, const StreamConsumer& part, SubstageListener& stages);

  void begin_epoch(std::int64_t epoch) override;
  std::optional<std::span<const std::byte>> next() override;
  Bytes stored_bytes() const override { return held_.stored_bytes; }
  std::int64_t sample() const override { return last_.number; }
  std::string place() const override;

 private:
  struct Last {
    std::int64_t number = 0;
    std::string name;
  };

  bool read(HeldSample& to);
  bool add_to_buffer();
  void draw();
  void set_last(const HeldSample& sample) { last_ = {sample.number, sample.name}; }

  const std::vector<std::string>& shards_;
  const ShardReading& reading_;
  SubstageListener& stages_;
  const std::size_t buffer_size_;
  const std::uint64_t seed_;       // seed of this part
  std::vector<std::int64_t> own_;  // shards in the order of the epoch
  std::int64_t epoch_ = 0, drawn_ = 0;
  std::size_t next_shard_ = 0;
  std::optional<ShardSamples> shard_;
  std::vector<HeldSample> buffer_;
  HeldSample held_, spare_;
  Last last_;
};

// Throws RunError, UsageError.
std::unique_ptr<Source> open_tar_stream(const SourceOptions& options, const SourceContext& context);

}  // namespace loaderscope::source
