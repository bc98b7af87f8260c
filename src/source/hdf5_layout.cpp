// Contents of an HDF5 data set, and whether it can be read.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "loaderscope/errors.h"
#include "source/hdf5_library.h"

namespace loaderscope::source {
namespace {

struct Filter {
  H5Z_filter_t id = H5Z_FILTER_NONE;
  std::string name;
};

// Returns the filters in the order of writing a chunk.
std::vector<Filter> list_filters(hid_t creation) {
  std::vector<Filter> filters;
  for (int i = 0; i < ::H5Pget_nfilters(creation); ++i) {
    unsigned flags = 0, config = 0;
    std::size_t values = 0;
    char name[64] = "";
    const H5Z_filter_t id = ::H5Pget_filter2(creation, static_cast<unsigned>(i), &flags, &values,
                                             nullptr, sizeof name, name, &config);
    filters.push_back({id, name});
  }
  return filters;
}

std::string names_of_filters(hid_t creation) {
  std::string names;
  for (const Filter& filter : list_filters(creation)) {
    if (::H5Zfilter_avail(filter.id) <= 0) {
      throw ValueError(fmt::format("is packed by the filter {} ({}), which HDF5 has not here",
                                   filter.id, shown_text(filter.name)),
                       "install its plugin and name its folder in HDF5_PLUGIN_PATH, or repack the "
                       "file: h5repack -f GZIP=1 OLD NEW");
    }
    names += (names.empty() ? "" : ", ") + filter.name;
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
  layout.packed_by = names_of_filters(creation);
}

// Rejects rows in other files. The library opens any path that the file names, and reads zeros if
// the other file is missing or too short.
void check_other_files(hid_t dataset, hid_t creation) {
  if (::H5Pget_external_count(creation) > 0)
    throw ValueError("keeps its rows in other files (external storage), which are not read",
                     "copy them into one file: h5repack -l CONTI OLD NEW");
  std::size_t mapped = 0;
  if (::H5Pget_layout(creation) != H5D_VIRTUAL || ::H5Pget_virtual_count(creation, &mapped) < 0)
    return;
  char own[4096] = "";
  ::H5Fget_name(dataset, own, sizeof own);
  for (std::size_t i = 0; i < mapped; ++i) {
    char name[4096] = "";
    ::H5Pget_virtual_filename(creation, i, name, sizeof name);
    const std::filesystem::path file(name);
    const bool is_pattern = file.string().find('%') != std::string::npos;
    std::error_code error;
    if (is_pattern || file == "." || std::filesystem::exists(file, error) ||
        std::filesystem::exists(std::filesystem::path(own).parent_path() / file, error))
      continue;
    throw ValueError(fmt::format("has rows in {}, which is not there", shown_text(name)),
                     "copy it to the same folder");
  }
}

// The library reads as many rows as there are said to be, wherever they end. What was never written
// has no place: it reads as its fill value.
void check_place(hid_t dataset, hid_t creation, Bytes bytes) {
  const H5D_layout_t layout = ::H5Pget_layout(creation);
  if (layout != H5D_COMPACT && layout != H5D_CONTIGUOUS) return;
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
    throw ValueError(
        fmt::format("is damaged: its rows take {} bytes and {} are stored", bytes, stored),
        "copy it again");
}

#if H5_VERSION_GE(1, 10, 5)
struct StoredChunk {
  std::vector<hsize_t> begin;
  unsigned left_out = 0;  // filters of it, as bits
  haddr_t place = HADDR_UNDEF;
  hsize_t bytes = 0;
};

// Returns nothing if fewer chunks are stored.
std::optional<StoredChunk> stored_chunk(hid_t dataset, hid_t space, hsize_t index) {
  StoredChunk chunk;
  chunk.begin.resize(static_cast<std::size_t>(::H5Sget_simple_extent_ndims(space)));
  const bool is_known = ::H5Dget_chunk_info(dataset, space, index, chunk.begin.data(),
                                            &chunk.left_out, &chunk.place, &chunk.bytes) >= 0;
  return is_known && chunk.place != HADDR_UNDEF ? std::optional(chunk) : std::nullopt;
}

// Bytes by which what is stored of a chunk is longer; nothing where a filter makes that any number.
std::optional<Bytes> more_than_unpacked(hid_t creation, const StoredChunk& chunk) {
  constexpr Bytes kChecksum = 4;
  Bytes more = 0;
  unsigned left_out = chunk.left_out;
  for (const Filter& filter : list_filters(creation)) {
    const bool is_left_out = (left_out & 1) != 0;
    left_out >>= 1;
    if (is_left_out || filter.id == H5Z_FILTER_SHUFFLE) continue;
    if (filter.id != H5Z_FILTER_FLETCHER32) return std::nullopt;
    more += kChecksum;
  }
  return more;
}
#endif

}  // namespace

void check_chunks(hid_t dataset, const Hdf5Layout& layout) {
#if H5_VERSION_GE(1, 10, 5)
  if (layout.chunk_rows == 0) return;
  const Hdf5Id space(::H5Dget_space(dataset), ::H5Sclose),
      creation(::H5Dget_create_plist(dataset), ::H5Pclose);
  const auto first = stored_chunk(dataset, space, 0), second = stored_chunk(dataset, space, 1);
  if (!first) return;  // no chunk was written
  const auto more = more_than_unpacked(creation, *first);
  const bool is_short = more && static_cast<Bytes>(first->bytes) != layout.chunk_bytes + *more;
  if (is_short || (second && second->begin <= first->begin))
    throw ValueError("is damaged: its chunks are not as long as it says", "copy it again");
#endif
}

Hdf5Layout read_layout(hid_t dataset, std::string name) {
  const Hdf5Id type(::H5Dget_type(dataset), ::H5Tclose), space(::H5Dget_space(dataset), ::H5Sclose),
      creation(::H5Dget_create_plist(dataset), ::H5Pclose);
  const H5T_class_t kind = ::H5Tget_class(type);
  if (kind != H5T_INTEGER && kind != H5T_FLOAT)
    throw ValueError(fmt::format("{} holds no plain numbers", shown_text(name)),
                     "save it as an array of numbers");
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
  check_other_files(dataset, creation);
  check_place(dataset, creation,
              product(layout.array.rows, static_cast<hsize_t>(layout.array.row_bytes)));
  describe_chunks(creation, most, value_bytes, layout);
  return layout;
}

}  // namespace loaderscope::source
