// Folders of shards of items as a source.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>
#include <utility>

#include "base/fd.h"
#include "loaderscope/errors.h"
#include "source/access.h"
#include "source/items.h"
#include "source/named_files.h"
#include "source/parallel.h"
#include "source/shard_bytes.h"
#include "source/walk.h"

namespace loaderscope::source {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kIndexName = "index.json";
constexpr std::uintmax_t kLargestIndex = std::uintmax_t{1} << 30;

using ParseIndex = ItemIndex (*)(std::string_view);

[[noreturn]] void fail_with(const std::string& path, const std::string& why) {
  throw RunError(shown_text(path) + ": " + why);
}

std::string whole_index(const std::string& path) {
  std::error_code error;
  const std::uintmax_t size = fs::file_size(path, error);
  std::ifstream file(path, std::ios::binary);
  if (error || !file)
    fail_with(path, "cannot be read" + (error ? ": " + error.message() : "") +
                        "; give the folder that holds index.json and its shards with --data");
  if (size > kLargestIndex) fail_with(path, "is no index.json: it has more than 1 GiB");
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string folder_of_index(const std::string& path) {
  std::error_code ignored;
  return fs::is_directory(path, ignored) ? path : fs::path(path).parent_path().string();
}

bool is_there(const std::string& path) {
  std::error_code ignored;
  return fs::is_regular_file(path, ignored);
}

// What `--data` names, before its shards are opened.
struct Folder {
  std::string index_path;
  std::vector<ItemField> fields;
  std::vector<OpenShard> shards;
  bool is_packed = false;
};

// Unpacked shards where all of them are there, as a library leaves them that has read all.
Folder opened_folder(const std::string& path, ParseIndex parse) {
  const std::string folder = folder_of_index(path);
  Folder opened{join_path(folder, kIndexName), {}, {}, false};
  ItemIndex index;
  try {
    index = parse(whole_index(opened.index_path));
  } catch (const ValueError& error) {
    fail_with(opened.index_path, error.what());
  }
  opened.fields = std::move(index.fields);
  const auto stored = [&](const ItemShard& shard) {
    return !shard.file.empty() && is_there(join_path(folder, shard.file));
  };
  const auto packed = [](const ItemShard& shard) { return !shard.packed_file.empty(); };
  opened.is_packed = !std::all_of(index.shards.begin(), index.shards.end(), stored) &&
                     std::all_of(index.shards.begin(), index.shards.end(), packed);
  for (ItemShard& shard : index.shards) {
    const std::string& file = opened.is_packed ? shard.packed_file : shard.file;
    opened.shards.push_back({join_path(folder, file), std::move(shard), 0, {}});
  }
  return opened;
}

class OpenedShard {
 public:
  explicit OpenedShard(const std::string& path)
      : fd_(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {
    if (fd_ < 0 || ::fstat(fd_, &facts_) != 0)
      fail_with(path, "cannot be opened: " + std::generic_category().message(errno) +
                          "; index.json names it, copy it there or write the data again");
  }
  int fd() const { return fd_; }
  Bytes size() const { return facts_.st_size; }

 private:
  Fd fd_;
  struct stat facts_ {};
};

void read_offsets(OpenShard& shard) {
  const OpenedShard file(shard.path);
  PiecesOfShard bytes(file.fd());
  try {
    shard.offsets = read_item_offsets(bytes, shard.about.items, file.size());
  } catch (const ValueError& error) {
    fail_with(shard.path, error.what());
  }
}

const CompressionRow& compression_of_shard(const OpenShard& shard) {
  const OpenedShard file(shard.path);
  PiecesOfShard bytes(file.fd());
  const CompressionRow* row = compression_of(bytes);
  if (row != nullptr && row->make != nullptr) return *row;
  fail_with(shard.path, row != nullptr
                            ? why_not_read(*row)
                            : fmt::format("is compressed by '{}', which is not read here; write it "
                                          "with zstd, or not compressed",
                                          shown_text(shard.about.packed_by)));
}

bool opens_each_time(const GivenWords& words) {
  const auto word = words.find("open");
  if (word == words.end() || word->second == "once") return false;
  if (word->second == "sample") return true;
  throw UsageError("data: open=" + shown_text(word->second) +
                   ": expected once (a reader keeps its shards open) or sample (opens one for "
                   "each sample, as the library does)");
}

class ItemSource final : public ExtentSource {
 public:
  ItemSource(const SourceOptions& options, std::vector<OpenShard> shards, ItemPart part)
      : ExtentSource(options),
        roots_(options.paths),
        shards_(std::move(shards)),
        part_(std::move(part)),
        opens_each_time_(source::opens_each_time(options.words)) {
    for (OpenShard& shard : shards_) {
      shard.first = samples_;
      samples_ += shard.about.items;
    }
  }

  void read_all_offsets(const SourceContext& context) {
    for_each_index(std::ssize(shards_), "reading where samples begin", context,
                   [&](std::int64_t i) { read_offsets(shards_[static_cast<std::size_t>(i)]); });
    settle_access();
  }

  // Instead of that.
  void set_packed(const SourceOptions& options) {
    packed_.emplace(PackedItems{shards_, compression_of_shard(shards_.front()), reading().counts(),
                                options.largest_sample});
    if (options.access == FileAccess::pread) return;
    add_note(
        fmt::format("--access {} is for shards that are not compressed; these are read with "
                    "pread",
                    name_of(options.access)));
  }

  std::int64_t size() const override { return samples_; }
  std::string describe(std::int64_t sample) const override {
    const OpenShard& shard = shard_of(shards_, sample);
    return fmt::format("{}: sample {}", shard.path, sample - shard.first);
  }
  std::unique_ptr<SampleReader> make_reader() const override {
    if (packed_) return make_unpacking_reader(*packed_, part_);
    return make_reader_of_parts(
        [part = part_](std::int64_t, std::span<const std::byte> item) mutable {
          return part.of(item);
        });
  }

  const Extents* extents() const override { return packed_ ? nullptr : this; }
  const Objects* stored_in() const override { return this; }
  std::optional<FileAccess> access() const override {
    return packed_ ? FileAccess::pread : ExtentSource::access();
  }
  Bytes bytes_read_ahead() const override {
    return packed_ ? packed_->memory() : ExtentSource::bytes_read_ahead();
  }
  std::vector<Detail> details() const override {
    if (!packed_) return {};
    return {
        {std::string(name_of(Stage::read_decompress)), std::string(packed_->compression.row.name)}};
  }

  std::int64_t objects() const override { return std::ssize(shards_); }
  void path_of(std::int64_t object, std::string& path) const override {
    path = shards_[static_cast<std::size_t>(object)].path;
  }
  std::vector<std::string> roots() const override { return roots_; }
  Extent extent(std::int64_t sample) const override {
    const OpenShard& shard = shard_of(shards_, sample);
    const auto place = static_cast<std::size_t>(sample - shard.first);
    return {&shard - shards_.data(), shard.offsets[place],
            Bytes{shard.offsets[place + 1]} - shard.offsets[place]};
  }
  bool opens_for_each_sample() const override { return opens_each_time_; }

 private:
  std::vector<std::string> roots_;
  std::vector<OpenShard> shards_;
  ItemPart part_;
  bool opens_each_time_;
  std::int64_t samples_ = 0;
  std::optional<PackedItems> packed_;
};

ItemPart part_of(const Folder& folder, std::string_view wanted) {
  try {
    return {folder.fields, wanted};
  } catch (const ValueError& error) {
    fail_with(folder.index_path, std::string(error.what()) + "; choose one with ?column=NAME");
  }
}

bool are_alike(const Folder& a, const Folder& b) {
  return a.is_packed == b.is_packed && a.fields == b.fields;
}

std::unique_ptr<Source> open_items(const SourceOptions& options, const SourceContext& context,
                                   ParseIndex parse) {
  std::optional<Folder> all;
  for (const std::string& path : options.paths) {
    Folder folder = opened_folder(path, parse);
    if (!all) {
      all = std::move(folder);
      continue;
    }
    if (!are_alike(folder, *all))
      fail_with(folder.index_path, "has other columns, or is compressed otherwise, than " +
                                       shown_text(all->index_path) + "; measure them apart");
    std::move(folder.shards.begin(), folder.shards.end(), std::back_inserter(all->shards));
  }
  std::erase_if(all->shards, [](const OpenShard& shard) { return shard.about.items == 0; });
  if (all->shards.empty()) fail_with(all->index_path, "names no sample");
  const auto word = options.words.find("column");
  auto source =
      std::make_unique<ItemSource>(options, std::move(all->shards),
                                   part_of(*all, word == options.words.end() ? "" : word->second));
  if (all->is_packed) {
    source->set_packed(options);
  } else {
    source->read_all_offsets(context);
  }
  return source;
}

}  // namespace
}  // namespace loaderscope::source

namespace loaderscope {

std::unique_ptr<Source> open_mds(const SourceOptions& options, const SourceContext& context) {
  return source::open_items(options, context, source::parse_mds_index);
}

std::unique_ptr<Source> open_litdata(const SourceOptions& options, const SourceContext& context) {
  return source::open_items(options, context, source::parse_litdata_index);
}

}  // namespace loaderscope
