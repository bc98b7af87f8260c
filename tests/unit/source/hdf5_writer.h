// HDF5 files for tests, by its library.
#pragma once

#ifdef LOADERSCOPE_WITH_HDF5
#include <hdf5.h>

#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace loaderscope::source {

// A data set "rows" of bytes, in chunks that zlib has packed, or in one piece. No
// bytes: none are written.
inline void write_hdf5(const std::string& path, std::string_view bytes,
                       const std::vector<hsize_t>& axes, const std::vector<hsize_t>& chunk) {
  const int rank = static_cast<int>(axes.size());
  const hid_t file = ::H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  const hid_t space = ::H5Screate_simple(rank, axes.data(), nullptr);
  const hid_t creation = ::H5Pcreate(H5P_DATASET_CREATE);
  if (!chunk.empty()) {
    ::H5Pset_chunk(creation, rank, chunk.data());
    ::H5Pset_deflate(creation, 1);
  }
  const hid_t rows =
      ::H5Dcreate2(file, "rows", H5T_STD_U8LE, space, H5P_DEFAULT, creation, H5P_DEFAULT);
  const herr_t written =
      bytes.empty() ? 0
                    : ::H5Dwrite(rows, H5T_STD_U8LE, H5S_ALL, H5S_ALL, H5P_DEFAULT, bytes.data());
  ::H5Dclose(rows);
  ::H5Pclose(creation);
  ::H5Sclose(space);
  ::H5Fclose(file);
  if (file < 0 || written < 0) throw std::runtime_error("H5Dwrite " + path);
}

}  // namespace loaderscope::source
#endif
