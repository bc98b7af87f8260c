// The bytes that a compressed shard holds.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "loaderscope/source.h"
#include "source/compression.h"
#include "source/shard_bytes.h"

namespace loaderscope::source {

// Of who goes forward only: no `begin` lies before the end of what was read. Unpacking is the
// sub-stage of reading that the sink is told. Throws SampleError.
class UnpackedShard final : public ShardBytes {
 public:
  static constexpr std::size_t kAtOnce = std::size_t{64} << 10;

  // What is given by reference outlives it; the row makes unpackers.
  UnpackedShard(ShardBytes& packed, const CompressionRow& row, const ReadCounts& counts,
                SubstageListener& stages);
  std::size_t read(Bytes begin, std::span<std::byte> to) override;
  // For who has read all that it wants: what checks it stands at the end. Gives up where that is
  // far.
  void check_rest();
  Bytes packed_bytes() const { return packed_at_ - std::ssize(packed_left_); }  // unpacked so far
  Bytes memory() const { return unpacker_->memory() + static_cast<Bytes>(2 * kAtOnce); }

 private:
  static constexpr Bytes kMaxBehindEnd = Bytes{1} << 20;

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
  std::span<const std::byte> packed_left_, left_;  // of the pieces
  Bytes packed_at_ = 0, at_ = 0;                   // of the end of one, and of what is left
};

}  // namespace loaderscope::source
