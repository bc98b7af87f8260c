// The bytes of one shard, whoever walks it.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "loaderscope/units.h"

namespace loaderscope::source {

class ReadCounts;

class ShardBytes {
 public:
  virtual ~ShardBytes() = default;
  // What lies from byte `begin` on; fewer bytes than there is room for only at the shard's end.
  virtual std::size_t read(Bytes begin, std::span<std::byte> to) = 0;
};

// Each piece on its own: for a walk that takes the headers and leaves what lies between. Throws
// ValueError, as it continues "PATH: ".
class PiecesOfShard final : public ShardBytes {
 public:
  explicit PiecesOfShard(int fd) : fd_(fd) {}  // which stays open
  std::size_t read(Bytes begin, std::span<std::byte> to) override;

 private:
  int fd_;
};

// Of who reads all of it in its order: the kernel is asked for so much at once. Throws SampleError.
class WholeShard final : public ShardBytes {
 public:
  static constexpr std::size_t kAtOnce = std::size_t{256} << 10;

  // The file stays open; the counts may be shared.
  WholeShard(int fd, const ReadCounts& counts);
  std::size_t read(Bytes begin, std::span<std::byte> to) override;

 private:
  std::size_t ask(Bytes begin, std::span<std::byte> to) const;  // the kernel

  int fd_;
  const ReadCounts& counts_;
  std::vector<std::byte> chunk_;
  Bytes chunk_begin_ = 0;
  std::size_t chunk_bytes_ = 0;
};

}  // namespace loaderscope::source
