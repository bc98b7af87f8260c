// What unpacks compressed bytes, a piece at a time.
#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "loaderscope/units.h"

namespace loaderscope::source {

class Unpacker {
 public:
  // Of `from` so many bytes were taken, and so many are in `to`.
  struct Step {
    std::size_t taken = 0, given = 0;
  };

  virtual ~Unpacker() = default;
  // Goes on behind what the last call took; both 0: without more bytes nothing comes. Throws
  // SampleError, as it continues "PATH: ", and is of no use from then on.
  virtual Step unpack(std::span<const std::byte> from, std::span<std::byte> to) = 0;
  // Whether what was taken may be all of it.
  virtual bool is_complete() const = 0;
  virtual Bytes memory() const = 0;  // that it holds now
};

std::unique_ptr<Unpacker> make_gzip_unpacker();  // also of several members, as pigz and bgzip write
std::unique_ptr<Unpacker> make_lz4_unpacker();   // likewise, as lz4 writes them
std::unique_ptr<Unpacker> make_zstd_unpacker();  // also of several frames, as pzstd writes

}  // namespace loaderscope::source
