// The library of HDF5, one call at a time.
//
// The library has one lock for all its work, so the threads of a process read one after another. A
// lock of loaderscope is taken first, so that the wait can be measured.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>

#include "source/arrays.h"

namespace loaderscope::source {

// Lock it before any of the objects below is made, used or destroyed.
std::mutex& hdf5_mutex();

struct Hdf5Layout {
  ArrayLayout array;      // `begin` is unused
  std::string name;       // name of the data set
  Bytes chunk_rows = 0;   // 0: stored in one piece
  Bytes chunk_bytes = 0;  // unpacked
  std::string packed_by;  // "deflate, shuffle"; "": not packed
};

// A data set that this process has opened. It must not be used after a fork.
class Hdf5Dataset {
 public:
  // `name` is the name of the data set; "": the only one with rows of several numbers. `cache` is
  // the size for chunks; 0: the library's default. Throws ValueError, which continues "PATH: ".
  Hdf5Dataset(const std::string& path, std::string_view name, Bytes cache);
  ~Hdf5Dataset();
  Hdf5Dataset(const Hdf5Dataset&) = delete;
  Hdf5Dataset& operator=(const Hdf5Dataset&) = delete;

  // Throws ValueError, which continues "PATH: ", if the length of a chunk differs from the file's
  // metadata. It visits all chunks, so call it once per file.
  void check_chunks() const;
  const Hdf5Layout& layout() const { return layout_; }
  // Reads as many rows as fit. Throws ValueError, which continues "PATH: ".
  void read(std::int64_t row, std::span<std::byte> to);

 private:
  struct Handles;
  std::unique_ptr<Handles> open_;
  Hdf5Layout layout_;
};

}  // namespace loaderscope::source
