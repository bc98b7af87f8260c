// The bytes of one shard, whoever walks it.
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
  // What lies from byte `begin` on; fewer bytes than there is room for only at the shard's end.
  virtual std::size_t read(Bytes begin, std::span<std::byte> to) = 0;
};

// Of who reads all of it in its order. Throws SampleError.
class WholeShard : public ShardBytes {
 public:
  virtual Bytes memory() const = 0;  // that it holds
};

// The kernel is asked for so much at once.
class WholeFile final : public WholeShard {
 public:
  static constexpr std::size_t kAtOnce = std::size_t{256} << 10;

  WholeFile(Fd fd, const ReadCounts& counts);
  std::size_t read(Bytes begin, std::span<std::byte> to) override;
  Bytes memory() const override { return static_cast<Bytes>(kAtOnce); }

 private:
  std::size_t ask(Bytes begin, std::span<std::byte> to) const;  // the kernel

  Fd fd_;
  const ReadCounts& counts_;
  std::vector<std::byte> chunk_;
  Bytes chunk_begin_ = 0;
  std::size_t chunk_bytes_ = 0;
};

}  // namespace loaderscope::source
