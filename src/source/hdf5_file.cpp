#include "source/hdf5_file.h"

#include <fmt/format.h>

#include <utility>
#include <vector>

#include "loaderscope/errors.h"
#include "source/hdf5_library.h"

namespace loaderscope::source {
namespace {

herr_t keep_first_reason(unsigned, const H5E_error2_t* error, void* reason) {
  auto& text = *static_cast<std::string*>(reason);
  if (text.empty() && error->desc != nullptr) text = error->desc;
  return 0;
}

// The innermost of what the library says about the call that failed last.
std::string reason_of_hdf5() {
  std::string reason;
  ::H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, keep_first_reason, &reason);
  return reason.empty() ? "HDF5 does not say why" : shown_text(reason);
}

// Opens without a file lock. It is not needed, and some network file systems refuse it.
Hdf5Id opened_file(const std::string& path) {
  ::H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);  // prints by itself otherwise; of this thread
  const Hdf5Id access(::H5Pcreate(H5P_FILE_ACCESS), ::H5Pclose);
#if H5_VERSION_GE(1, 10, 7)
  ::H5Pset_file_locking(access, false, true);
#endif
  return held_or_fail(::H5Fopen(path.c_str(), H5F_ACC_RDONLY, access), ::H5Fclose,
                      "is no HDF5 file that can be read");
}

struct Found {
  std::vector<std::string> names;  // names of data sets
  std::vector<std::string> with_rows;
  std::string why_not;  // one could not be opened
};

int rank_of(hid_t dataset) {
  const Hdf5Id space(::H5Dget_space(dataset), ::H5Sclose);
  return ::H5Sget_simple_extent_ndims(space);
}

herr_t note_dataset(hid_t file, const char* name, const H5L_info_t* link, void* to) {
  if (link->type != H5L_TYPE_HARD) return 0;
  const Hdf5Id object(::H5Oopen(file, name, H5P_DEFAULT), ::H5Oclose);
  auto& found = *static_cast<Found*>(to);
  if (object < 0) found.why_not = shown_text(name) + " cannot be opened: " + reason_of_hdf5();
  if (object < 0 || ::H5Iget_type(object) != H5I_DATASET) return 0;
  found.names.emplace_back(name);
  if (rank_of(object) > 1) found.with_rows.emplace_back(name);
  return 0;
}

// Returns the only data set if no name was given.
std::string only_dataset(hid_t file) {
  Found found;
  ::H5Lvisit(file, H5_INDEX_NAME, H5_ITER_INC, note_dataset, &found);
  if (found.with_rows.size() == 1) return found.with_rows.front();
  std::string names;
  for (const std::string& name : found.names)
    names += (names.empty() ? "" : ", ") + shown_text(name);
  if (found.names.empty() && !found.why_not.empty())
    throw ValueError(
        found.why_not,
        fmt::format(
            "save it with h5py.File(..., libver=('earliest', 'v110')), as a newer HDF5 than "
            "the {}.{}.{} here may have written it",
            H5_VERS_MAJOR, H5_VERS_MINOR, H5_VERS_RELEASE));
  if (found.names.empty()) throw ValueError("holds no data set");
  throw ValueError(fmt::format("holds the data sets {}", names), "choose one with ?dataset=NAME");
}

Hdf5Id opened_dataset(hid_t file, const std::string& name, Bytes cache) {
  const Hdf5Id access(::H5Pcreate(H5P_DATASET_ACCESS), ::H5Pclose);
  if (cache > 0)
    ::H5Pset_chunk_cache(access, H5D_CHUNK_CACHE_NSLOTS_DEFAULT, static_cast<std::size_t>(cache),
                         H5D_CHUNK_CACHE_W0_DEFAULT);
  return held_or_fail(::H5Dopen2(file, name.c_str(), access), ::H5Dclose,
                      shown_text(name) + " cannot be opened");
}

}  // namespace

void fail_by_hdf5(std::string_view doing) {
  throw ValueError(fmt::format("{}: {}", doing, reason_of_hdf5()));
}

std::mutex& hdf5_mutex() {
  static std::mutex mutex;
  return mutex;
}

struct Hdf5Dataset::Handles {
  Hdf5Id file, dataset, type, space;
};

Hdf5Dataset::Hdf5Dataset(const std::string& path, std::string_view name, Bytes cache) {
  Hdf5Id file = opened_file(path);
  const std::string chosen = name.empty() ? only_dataset(file) : std::string(name);
  Hdf5Id dataset = opened_dataset(file, chosen, cache);
  layout_ = layout_of(dataset, chosen);
  Hdf5Id type(::H5Dget_type(dataset), ::H5Tclose), space(::H5Dget_space(dataset), ::H5Sclose);
  open_.reset(new Handles{std::move(file), std::move(dataset), std::move(type), std::move(space)});
}

Hdf5Dataset::~Hdf5Dataset() = default;

void Hdf5Dataset::check_chunks() const { source::check_chunks(open_->dataset, layout_); }

void Hdf5Dataset::read(std::int64_t row, std::span<std::byte> to) {
  const auto rank = static_cast<std::size_t>(::H5Sget_simple_extent_ndims(open_->space));
  std::vector<hsize_t> begin(rank), count(rank);
  ::H5Sget_simple_extent_dims(open_->space, count.data(), nullptr);
  begin[0] = static_cast<hsize_t>(row);
  count[0] = to.size() / static_cast<std::size_t>(layout_.array.row_bytes);
  const Hdf5Id memory(::H5Screate_simple(static_cast<int>(rank), count.data(), nullptr),
                      ::H5Sclose);
  ::H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
  if (::H5Sselect_hyperslab(open_->space, H5S_SELECT_SET, begin.data(), nullptr, count.data(),
                            nullptr) < 0 ||
      ::H5Dread(open_->dataset, open_->type, memory, open_->space, H5P_DEFAULT, to.data()) < 0)
    fail_by_hdf5("cannot be read");
}

}  // namespace loaderscope::source
