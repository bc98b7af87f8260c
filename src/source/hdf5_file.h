// The library of HDF5, one call at a time.
//
// It has one lock for all that it does: threads of a process read one after another. That lock is
// taken here, where the wait for it can be measured.
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

// Held for as long as any of what is below is used, made or destroyed.
std::mutex& hdf5_mutex();

struct Hdf5Layout {
  ArrayLayout array;      // `begin` says nothing
  std::string name;       // of the data set
  Bytes chunk_rows = 0;   // 0: it is stored in one piece
  Bytes chunk_bytes = 0;  // unpacked
  std::string packed_by;  // "deflate, shuffle"; "": nothing
};

// A data set, open in this process: never one that this was forked from.
class Hdf5Dataset {
 public:
  // `name`: of the data set; "": the only one that has rows of several numbers. `cache`: for
  // chunks, 0: what the library takes. Throws ValueError, as it continues "PATH: ".
  Hdf5Dataset(const std::string& path, std::string_view name, Bytes cache);
  ~Hdf5Dataset();
  Hdf5Dataset(const Hdf5Dataset&) = delete;
  Hdf5Dataset& operator=(const Hdf5Dataset&) = delete;

  // Throws ValueError, likewise, where chunks are not as long as the file says. All of them are
  // gone through: once for a file.
  void check_chunks() const;
  const Hdf5Layout& layout() const { return layout_; }
  // So many rows as there is room for. Throws ValueError, likewise.
  void read(std::int64_t row, std::span<std::byte> to);

 private:
  struct Handles;
  std::unique_ptr<Handles> open_;
  Hdf5Layout layout_;
};

}  // namespace loaderscope::source
