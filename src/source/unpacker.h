// Decompressor that works piece by piece.
#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "loaderscope/units.h"

namespace loaderscope::source {

class Unpacker {
 public:
  // Bytes taken of `from`, and bytes written to `to`.
  struct Step {
    std::size_t taken = 0, given = 0;
  };

  virtual ~Unpacker() = default;
  // Continues after the bytes that the last call took. Both 0: more input is needed. Throws
  // SampleError, which continues "PATH: ", and cannot be used afterwards.
  virtual Step unpack(std::span<const std::byte> from, std::span<std::byte> to) = 0;
  // Returns true if the input may be complete.
  virtual bool is_complete() const = 0;
  virtual Bytes memory() const = 0;  // memory that it holds now
};

std::unique_ptr<Unpacker> make_gzip_unpacker();  // supports several members, as of pigz and bgzip
std::unique_ptr<Unpacker> make_lz4_unpacker();   // supports several frames, as of lz4
std::unique_ptr<Unpacker> make_zstd_unpacker();  // supports several frames, as of pzstd

}  // namespace loaderscope::source
