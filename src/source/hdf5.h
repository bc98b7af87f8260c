// HDF5 files: the rows of a data set are the samples, which the library reads itself.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>

#include "loaderscope/source.h"
#include "source/arrays.h"
#include "source/options.h"

namespace loaderscope::source {

inline constexpr std::string_view kHdf5Suffixes[] = {".h5", ".hdf5"};

}  // namespace loaderscope::source

namespace loaderscope {

// Throws RunError, or UsageError for words that do not fit.
std::unique_ptr<Source> open_hdf5(const SourceOptions& options, const SourceContext& context);

}  // namespace loaderscope

namespace loaderscope::source {

// The library of HDF5, one call at a time.
//
// The library has one lock for all its work, so the threads of a process read one after another. A
// lock of loaderscope is taken first, so that the wait can be measured.

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
