// HDF5 files as a source.
#include "source/hdf5.h"

#include <fmt/format.h>

#include <utility>
#include <vector>

#include "base/thread_io.h"
#include "base/thread_meter.h"
#include "loaderscope/errors.h"
#include "source/hdf5_library.h"
#include "source/lru_cache.h"
#include "source/named_files.h"

namespace loaderscope::source {
namespace {

using Kind = SampleError::Kind;

// Plan that all readers share.
struct Hdf5Plan {
  std::string dataset;
  Bytes chunk_cache = 0;
};

// A file is opened at the first of its samples: in the process that reads it, whatever that was
// forked from.
class Hdf5Reader final : public SampleReader {
 public:
  Hdf5Reader(const ArraySource& source, const Hdf5Plan& plan, const ReadCounts& counts)
      : source_(source), plan_(plan), counts_(counts) {}
  ~Hdf5Reader() override {
    const std::lock_guard lock(hdf5_mutex());
    open_.clear();
  }
  Hdf5Reader(const Hdf5Reader&) = delete;
  Hdf5Reader& operator=(const Hdf5Reader&) = delete;

  std::span<const std::byte> read(std::int64_t sample) override {
    const Extent extent = source_.extent(sample);
    row_.resize(static_cast<std::size_t>(extent.length));
    if (!io_) io_.emplace();
    const std::unique_lock lock = waited_for_lock();
    const Nanos begin = monotonic_now();
    io_->since_last();
    try {
      Hdf5Dataset& dataset = open_dataset(extent.object);
      dataset.read(extent.offset / dataset.layout().array.row_bytes, row_);
    } catch (const ValueError& error) {
      throw SampleError(Kind::damaged, error.what());
    }
    const std::optional<ThreadIo::Reads> reads = io_->since_last();
    counts_.count_in_library(monotonic_now() - begin);
    if (reads) counts_.count_requests(reads->calls, reads->bytes);
    stored_bytes_ = reads ? std::optional(reads->bytes) : std::nullopt;
    counts_.count_sample(extent.length);
    return row_;
  }
  std::optional<Bytes> stored_bytes() const override { return stored_bytes_; }

 private:
  static constexpr std::size_t kMaxOpen = 16;

  std::unique_lock<std::mutex> waited_for_lock() const {
    std::unique_lock lock(hdf5_mutex(), std::try_to_lock);
    if (lock) return lock;
    const Nanos begin = monotonic_now();
    lock.lock();
    counts_.count_waited_for_lock(monotonic_now() - begin);
    return lock;
  }

  Hdf5Dataset& open_dataset(std::int64_t file) {
    return *open_.get(file, [&] {
      std::string path;
      source_.get_path(file, path);
      auto opened = std::make_unique<Hdf5Dataset>(path, plan_.dataset, plan_.chunk_cache);
      counts_.count_opened();
      return opened;
    });
  }

  const ArraySource& source_;
  const Hdf5Plan& plan_;
  const ReadCounts& counts_;
  LruCache<std::unique_ptr<Hdf5Dataset>> open_{kMaxOpen};
  std::vector<std::byte> row_;
  std::optional<ThreadIo> io_;
  std::optional<Bytes> stored_bytes_;
};

class Hdf5Source final : public ArraySource {
 public:
  Hdf5Source(const SourceOptions& options, const std::vector<ArrayFile>& files, Windows windows,
             Hdf5Plan plan)
      : ArraySource(options, files, windows), plan_(std::move(plan)) {
    if (options.access == FileAccess::pread) return;
    add_note(fmt::format("--access {} is for files that are read here; HDF5 reads its own",
                         name_of(options.access)));
  }

  std::unique_ptr<SampleReader> make_reader() const override {
    return std::make_unique<Hdf5Reader>(*this, plan_, reading().counts());
  }
  const Extents* extents() const override { return nullptr; }
  const Objects* stored_objects() const override { return this; }
  std::optional<FileAccess> access() const override { return FileAccess::pread; }
  Bytes bytes_read_ahead() const override { return plan_.chunk_cache; }
  std::vector<Detail> details() const override {
    const double share = reading().counts().share_of_lock();
    if (share <= 0) return {};
    return {{std::string(name_of(Stage::read)), "waiting for HDF5's lock", share}};
  }

 private:
  Hdf5Plan plan_;
};

Hdf5Layout looked_at(const std::string& path, std::string_view dataset, bool has_window) {
  try {
    const std::lock_guard lock(hdf5_mutex());
    const Hdf5Dataset opened(path, dataset, 0);
    opened.check_chunks();
    Hdf5Layout layout = opened.layout();
    if (layout.array.is_flat && !has_window)
      throw ValueError(layout.name + " is one long row of numbers",
                       "say how many make a sample: hdf5:PATH?dataset=NAME&length=1024");
    return layout;
  } catch (const ValueError& error) {
    throw add_place<RunError>(shown_text(path) + ": ", error);
  }
}

Bytes chunk_cache_bytes(const FormatParameters& words) {
  constexpr Bytes kUsual = Bytes{1} << 20;  // the library's
  const auto word = words.find("chunk-cache");
  if (word == words.end()) return kUsual;
  try {
    return parse_size(word->second);
  } catch (const ValueError& error) {
    throw add_place<UsageError>("data: chunk-cache=" + shown_text(word->second) + ": ", error);
  }
}

// Notes that more bytes are read than the sample has.
std::string note_of_chunks(const Hdf5Layout& layout, const Hdf5Plan& plan) {
  if (layout.chunk_rows == 0) return "";
  const bool fits = layout.chunk_bytes <= plan.chunk_cache;
  return fmt::format("{}: chunks of {} ({}{}), each read as a whole{}", shown_text(layout.name),
                     plural(layout.chunk_rows, "row"),
                     format_size(static_cast<double>(layout.chunk_bytes)),
                     layout.packed_by.empty() ? "" : ", " + shown_text(layout.packed_by),
                     fits ? ""
                          : "; more than the chunk cache holds, so for each sample: give "
                            "chunk-cache=SIZE");
}

}  // namespace
}  // namespace loaderscope::source

namespace loaderscope {

std::unique_ptr<Source> open_hdf5(const SourceOptions& options, const SourceContext& context) {
  const source::Windows windows = source::parse_windows(options.words, 1);
  const auto word = options.words.find("dataset");
  source::Hdf5Plan plan{word == options.words.end() ? "" : word->second,
                        source::chunk_cache_bytes(options.words)};
  std::vector<source::ArrayFile> arrays;
  std::string note;
  for (const std::string& path : source::named_files(options.paths, source::kHdf5Suffixes)) {
    context.throw_if_stopped();
    source::Hdf5Layout layout =
        source::looked_at(path, plan.dataset, options.words.contains("length"));
    if (arrays.empty()) note = source::note_of_chunks(layout, plan);
    plan.dataset = layout.name;
    arrays.push_back({path, std::move(layout.array)});
  }
  auto source = std::make_unique<source::Hdf5Source>(options, arrays, windows, std::move(plan));
  if (!note.empty()) source->add_note(std::move(note));
  return source;
}

}  // namespace loaderscope

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

int dataset_rank(hid_t dataset) {
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
  if (dataset_rank(object) > 1) found.with_rows.emplace_back(name);
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
  layout_ = read_layout(dataset, chosen);
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
