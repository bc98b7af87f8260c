#include "source/hdf5_file.h"

#include <fmt/format.h>
#include <hdf5.h>

#include <algorithm>
#include <functional>
#include <utility>
#include <vector>

#include "loaderscope/errors.h"

namespace loaderscope::source {

// What the library gave a number, which it takes back.
class Hdf5Id {
 public:
  Hdf5Id(hid_t id, herr_t (*close)(hid_t)) : id_(id), close_(close) {}
  Hdf5Id(Hdf5Id&& other) noexcept : id_(std::exchange(other.id_, -1)), close_(other.close_) {}
  Hdf5Id& operator=(Hdf5Id&&) = delete;
  ~Hdf5Id() {
    if (id_ >= 0) close_(id_);
  }
  operator hid_t() const { return id_; }  // NOLINT: reads like the number

 private:
  hid_t id_;
  herr_t (*close_)(hid_t);
};

namespace {

herr_t keep_first_reason(unsigned, const H5E_error2_t* error, void* reason) {
  auto& text = *static_cast<std::string*>(reason);
  if (text.empty() && error->desc != nullptr) text = error->desc;
  return 0;
}

// The innermost of what the library says about the call that failed last.
[[noreturn]] void fail_by_hdf5(std::string_view doing) {
  std::string reason;
  ::H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, keep_first_reason, &reason);
  throw ValueError(
      fmt::format("{}: {}", doing, reason.empty() ? "HDF5 does not say why" : shown_text(reason)));
}

Hdf5Id held_or_fail(hid_t id, herr_t (*close)(hid_t), std::string_view doing) {
  if (id < 0) fail_by_hdf5(doing);
  return {id, close};
}

// Of a lock on the file there is no need, and some network file systems refuse it.
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
  std::vector<std::string> names;  // of data sets
  std::vector<std::string> with_rows;
};

int rank_of(hid_t dataset) {
  const Hdf5Id space(::H5Dget_space(dataset), ::H5Sclose);
  return ::H5Sget_simple_extent_ndims(space);
}

herr_t note_dataset(hid_t file, const char* name, const H5L_info_t* link, void* to) {
  if (link->type != H5L_TYPE_HARD) return 0;
  const Hdf5Id object(::H5Oopen(file, name, H5P_DEFAULT), ::H5Oclose);
  if (object < 0 || ::H5Iget_type(object) != H5I_DATASET) return 0;
  auto& found = *static_cast<Found*>(to);
  found.names.emplace_back(name);
  if (rank_of(object) > 1) found.with_rows.emplace_back(name);
  return 0;
}

// Where no name was given.
std::string only_dataset(hid_t file) {
  Found found;
  ::H5Lvisit(file, H5_INDEX_NAME, H5_ITER_INC, note_dataset, &found);
  if (found.with_rows.size() == 1) return found.with_rows.front();
  std::string names;
  for (const std::string& name : found.names)
    names += (names.empty() ? "" : ", ") + shown_text(name);
  throw ValueError(
      found.names.empty()
          ? std::string("holds no data set")
          : fmt::format("holds the data sets {}; choose one with ?dataset=NAME", names));
}

std::string filters_of(hid_t creation) {
  std::string names;
  for (int i = 0; i < ::H5Pget_nfilters(creation); ++i) {
    unsigned flags = 0, config = 0;
    std::size_t values = 0;
    char name[64] = "";
    const H5Z_filter_t filter = ::H5Pget_filter2(creation, static_cast<unsigned>(i), &flags,
                                                 &values, nullptr, sizeof name, name, &config);
    if (::H5Zfilter_avail(filter) <= 0) {
      throw ValueError(fmt::format(
          "is packed by the filter {} ({}), which HDF5 has not here; install its plugin and name "
          "its folder in HDF5_PLUGIN_PATH, or repack the file: h5repack -f GZIP=1 OLD NEW",
          filter, shown_text(name)));
    }
    names += fmt::format("{}{}", names.empty() ? "" : ", ", name);
  }
  return names;
}

Bytes product(Bytes a, hsize_t b) {
  Bytes result = 0;
  if (__builtin_mul_overflow(a, b, &result))
    throw ValueError("says that it has more than 2^63 bytes");
  return result;
}

// `most`: of the axes, as long as they may become. The library trusts the lengths of a chunk, and
// reads outside of what was unpacked where they are damaged; it writes none longer than this.
void describe_chunks(hid_t creation, std::span<const hsize_t> most, Bytes value_bytes,
                     Hdf5Layout& layout) {
  if (::H5Pget_layout(creation) != H5D_CHUNKED) return;
  std::vector<hsize_t> chunk(most.size());
  ::H5Pget_chunk(creation, static_cast<int>(chunk.size()), chunk.data());
  if (!std::equal(chunk.begin(), chunk.end(), most.begin(), std::less_equal<>()))
    throw ValueError("is damaged: its chunks are longer than the data set");
  layout.chunk_rows = static_cast<Bytes>(chunk.front());
  layout.chunk_bytes = value_bytes;
  for (const hsize_t length : chunk) layout.chunk_bytes = product(layout.chunk_bytes, length);
  layout.packed_by = filters_of(creation);
}

// The library reads as many rows as there are said to be, wherever they end. What was never written
// has no place: it reads as its fill value.
void check_place(hid_t dataset, hid_t creation, Bytes bytes) {
  const H5D_layout_t layout = ::H5Pget_layout(creation);
  if (layout != H5D_COMPACT && layout != H5D_CONTIGUOUS) return;
  if (::H5Pget_external_count(creation) > 0) return;
  const haddr_t offset = ::H5Dget_offset(dataset);
  if (layout == H5D_CONTIGUOUS && offset == HADDR_UNDEF) return;
  const auto stored = ::H5Dget_storage_size(dataset);
  hsize_t file_bytes = stored, end = stored;
  if (layout == H5D_CONTIGUOUS) {
    const Hdf5Id file(::H5Iget_file_id(dataset), ::H5Fclose);
    if (::H5Fget_filesize(file, &file_bytes) < 0) file_bytes = 0;
    if (__builtin_add_overflow(offset, stored, &end)) file_bytes = 0;
  }
  if (stored < static_cast<hsize_t>(bytes) || end > file_bytes)
    throw ValueError(fmt::format(
        "is damaged: its rows take {} bytes and {} are stored; copy it again", bytes, stored));
}

Hdf5Layout layout_of(hid_t dataset, std::string name) {
  const Hdf5Id type(::H5Dget_type(dataset), ::H5Tclose), space(::H5Dget_space(dataset), ::H5Sclose),
      creation(::H5Dget_create_plist(dataset), ::H5Pclose);
  const H5T_class_t kind = ::H5Tget_class(type);
  if (kind != H5T_INTEGER && kind != H5T_FLOAT)
    throw ValueError(
        fmt::format("{} holds no plain numbers; save it as an array of numbers", shown_text(name)));
  const int rank = ::H5Sget_simple_extent_ndims(space);
  if (rank < 1) throw ValueError(shown_text(name) + " holds a single number, no samples");
  std::vector<hsize_t> axes(static_cast<std::size_t>(rank)), most(axes.size());
  ::H5Sget_simple_extent_dims(space, axes.data(), most.data());
  const auto value_bytes = static_cast<Bytes>(::H5Tget_size(type));
  Hdf5Layout layout;
  layout.name = std::move(name);
  layout.array.type = fmt::format("{}{}", kind == H5T_FLOAT ? "f" : "i", value_bytes);
  layout.array.rows = product(1, axes.front());
  layout.array.is_flat = rank == 1;
  layout.array.row_bytes = value_bytes;
  for (const hsize_t length : std::span(axes).subspan(1))
    layout.array.row_bytes = product(layout.array.row_bytes, length);
  layout.array.shape = fmt::format("({})", fmt::join(axes.begin() + 1, axes.end(), ", "));
  check_place(dataset, creation,
              product(layout.array.rows, static_cast<hsize_t>(layout.array.row_bytes)));
  describe_chunks(creation, most, value_bytes, layout);
  return layout;
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
