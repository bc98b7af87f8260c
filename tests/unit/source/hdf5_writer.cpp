#include "unit/source/hdf5_writer.h"

#include <hdf5.h>

#include <stdexcept>
#include <type_traits>

namespace loaderscope::source {

void write_hdf5_file(const std::string& path, std::string_view bytes, const std::vector<Side>& axes,
                     const std::vector<Side>& chunk) {
  static_assert(std::is_same_v<Side, hsize_t>);
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
