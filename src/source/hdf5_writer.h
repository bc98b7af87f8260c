// A file of HDF5 that is written, by its library.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace loaderscope::source {

// Images of one size as a data set "images", (rows, height, width, 3) of 8 bits, each a chunk; and
// "labels". Throws ValueError, as it continues "PATH: ". Takes hdf5_mutex() itself.
class Hdf5Writer {
 public:
  Hdf5Writer(const std::string& path, std::uint32_t height, std::uint32_t width);
  ~Hdf5Writer();
  Hdf5Writer(const Hdf5Writer&) = delete;
  Hdf5Writer& operator=(const Hdf5Writer&) = delete;

  void add(std::span<const std::byte> pixels);
  // All is written, and the file closed; no labels: there are none.
  void finish(const std::vector<std::int64_t>& labels);

 private:
  struct Handles;
  std::unique_ptr<Handles> open_;
  std::uint64_t rows_ = 0;
};

}  // namespace loaderscope::source
