#include "source/hdf5_writer.h"

#include <fmt/format.h>
#include <hdf5.h>

#include <array>
#include <mutex>

#include "loaderscope/errors.h"
#include "source/hdf5.h"

namespace loaderscope::source {
namespace {

using Axes = std::array<hsize_t, 4>;

hid_t made(hid_t id, const char* what) {
  if (id < 0) throw ValueError(fmt::format("cannot be written by HDF5: {}", what));
  return id;
}
// Properties of a data set without a creation time, so that the same samples give the same bytes.
hid_t creation_without_time() {
  const hid_t creation = made(::H5Pcreate(H5P_DATASET_CREATE), "no properties");
  ::H5Pset_obj_track_times(creation, false);
  return creation;
}
void check_hdf5(herr_t result, const char* what) { made(result, what); }

}  // namespace

// In the order in which they are given back, from the end.
struct Hdf5Writer::Handles {
  hid_t file = -1, space = -1, creation = -1, images = -1;
  Axes row{};

  ~Handles() {
    if (images >= 0) ::H5Dclose(images);
    if (creation >= 0) ::H5Pclose(creation);
    if (space >= 0) ::H5Sclose(space);
    if (file >= 0) ::H5Fclose(file);
  }
};

Hdf5Writer::Hdf5Writer(const std::string& path, std::uint32_t height, std::uint32_t width) {
  const std::lock_guard lock(hdf5_mutex());
  ::H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
  auto open = std::make_unique<Handles>();
  open->row = {1, height, width, 3};
  Axes none = open->row, most = open->row;
  none[0] = 0;
  most[0] = H5S_UNLIMITED;
  open->file = made(::H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT), "no file");
  open->space = made(::H5Screate_simple(4, none.data(), most.data()), "no space of that size");
  open->creation = creation_without_time();
  check_hdf5(::H5Pset_chunk(open->creation, 4, open->row.data()), "no chunks of an image");
  open->images = made(::H5Dcreate2(open->file, "images", H5T_STD_U8LE, open->space, H5P_DEFAULT,
                                   open->creation, H5P_DEFAULT),
                      "no data set of images");
  open_ = std::move(open);
}

Hdf5Writer::~Hdf5Writer() {
  const std::lock_guard lock(hdf5_mutex());
  open_.reset();
}

void Hdf5Writer::add(std::span<const std::byte> pixels) {
  const std::lock_guard lock(hdf5_mutex());
  Axes all = open_->row;
  all[0] = rows_ + 1;
  check_hdf5(::H5Dset_extent(open_->images, all.data()), "no room for another image");
  const hid_t file_space = made(::H5Dget_space(open_->images), "no space");
  const hid_t row_space = ::H5Screate_simple(4, open_->row.data(), nullptr);
  const Axes begin = {rows_, 0, 0, 0};
  ::H5Sselect_hyperslab(file_space, H5S_SELECT_SET, begin.data(), nullptr, open_->row.data(),
                        nullptr);
  const herr_t written =
      ::H5Dwrite(open_->images, H5T_STD_U8LE, row_space, file_space, H5P_DEFAULT, pixels.data());
  ::H5Sclose(row_space);
  ::H5Sclose(file_space);
  check_hdf5(written, "an image is not written; is the disk full?");
  ++rows_;
}

void Hdf5Writer::finish(const std::vector<std::int64_t>& labels) {
  const std::lock_guard lock(hdf5_mutex());
  if (!labels.empty()) {
    const hsize_t count = labels.size();
    const hid_t space = made(::H5Screate_simple(1, &count, nullptr), "no space");
    const hid_t creation = creation_without_time();
    const hid_t set = ::H5Dcreate2(open_->file, "labels", H5T_STD_I64LE, space, H5P_DEFAULT,
                                   creation, H5P_DEFAULT);
    const herr_t written =
        set < 0 ? -1
                : ::H5Dwrite(set, H5T_NATIVE_INT64, H5S_ALL, H5S_ALL, H5P_DEFAULT, labels.data());
    if (set >= 0) ::H5Dclose(set);
    ::H5Pclose(creation);
    ::H5Sclose(space);
    check_hdf5(written, "the labels are not written; is the disk full?");
  }
  check_hdf5(::H5Fflush(open_->file, H5F_SCOPE_GLOBAL), "not all is written; is the disk full?");
  open_.reset();
}

}  // namespace loaderscope::source
