// The bytes of one shard, for all walkers.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "base/fd.h"
#include "loaderscope/source.h"
#include "loaderscope/units.h"
#include "source/compression.h"

namespace loaderscope::source {

class ReadCounts;

class ShardBytes {
 public:
  virtual ~ShardBytes() = default;
  // Reads from byte `begin`. Returns fewer bytes than fit only at the shard's end.
  virtual std::size_t read(Bytes begin, std::span<std::byte> to) = 0;
};

// Reads all of a shard in order. Throws SampleError.
class WholeShard : public ShardBytes {
 public:
  virtual Bytes memory() const = 0;  // memory that it holds
};

// A file that is read in system calls of kAtOnce bytes.
class WholeFile final : public WholeShard {
 public:
  static constexpr std::size_t kAtOnce = std::size_t{256} << 10;

  WholeFile(Fd fd, const ReadCounts& counts);
  std::size_t read(Bytes begin, std::span<std::byte> to) override;
  Bytes memory() const override { return static_cast<Bytes>(kAtOnce); }

 private:
  std::size_t ask(Bytes begin, std::span<std::byte> to) const;  // one system call

  Fd fd_;
  const ReadCounts& counts_;
  std::vector<std::byte> chunk_;
  Bytes chunk_begin_ = 0;
  std::size_t chunk_bytes_ = 0;
};

// The unpacked bytes of a compressed shard. Reads only forward: no `begin` lies before the end of
// the last read. Unpacking is reported to the listener as a sub-stage of reading. Throws
// SampleError.
class UnpackedShard final : public ShardBytes {
 public:
  static constexpr std::size_t kAtOnce = std::size_t{64} << 10;

  // All references outlive it. The row makes unpackers.
  UnpackedShard(ShardBytes& packed, const CompressionRow& row, const ReadCounts& counts,
                SubstageListener& stages);
  std::size_t read(Bytes begin, std::span<std::byte> to) override;
  // Verifies the checksum at the end after all wanted bytes were read. Gives up if the end is far.
  void check_rest();
  Bytes packed_bytes() const { return packed_at_ - std::ssize(packed_left_); }  // unpacked so far
  Bytes memory() const { return unpacker_->memory() + static_cast<Bytes>(2 * kAtOnce); }

 private:
  static constexpr Bytes kMaxTrailing = Bytes{1} << 20;

  std::size_t unpack(std::span<std::byte> to);
  void refill();
  bool has_more();
  void take(std::size_t bytes);

  ShardBytes& packed_;
  const CompressionRow& row_;
  const ReadCounts& counts_;
  SubstageListener& stages_;
  std::unique_ptr<Unpacker> unpacker_;
  std::vector<std::byte> packed_piece_, piece_;
  std::span<const std::byte> packed_left_, left_;  // rest of the pieces
  Bytes packed_at_ = 0, at_ = 0;  // offset of the end of `packed_piece_`, and of `left_`
};

}  // namespace loaderscope::source
