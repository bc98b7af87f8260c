// The bytes of one shard, for all walkers.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "base/fd.h"
#include "loaderscope/units.h"

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

}  // namespace loaderscope::source
