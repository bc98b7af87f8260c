// Folders of shards of items as a source.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>
#include <utility>

#include "loaderscope/errors.h"
#include "source/access.h"
#include "source/items.h"
#include "source/named_files.h"
#include "source/parallel.h"
#include "source/store.h"
#include "source/walk.h"

namespace loaderscope::source {
namespace {

[[noreturn]] void fail_in_folder(const std::string& path, const std::string& why) {
  throw RunError(shown_text(path) + ": " + why);
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
    const OpenShard& shard = find_shard(shards_, sample);
    return fmt::format("{}: sample {}", shard.path, sample - shard.first);
  }
  std::unique_ptr<SampleReader> make_reader() const override {
    if (packed_) return make_unpacking_reader(*packed_, part_);
    return make_reader_of_parts(
        [part = part_](std::int64_t, std::span<const std::byte> item) mutable {
          return part.extract(item);
        });
  }

  const Extents* extents() const override { return packed_ ? nullptr : this; }
  const Objects* stored_objects() const override { return this; }
  std::optional<FileAccess> access() const override {
    return packed_ ? FileAccess::pread : ExtentSource::access();
  }
  Bytes bytes_read_ahead() const override {
    return packed_ ? packed_->memory() : ExtentSource::bytes_read_ahead();
  }
  std::vector<Detail> details() const override {
    if (!packed_) return ExtentSource::details();
    return {
        {std::string(name_of(Stage::read_decompress)), std::string(packed_->compression.row.name)}};
  }

  std::int64_t objects() const override { return std::ssize(shards_); }
  void get_path(std::int64_t object, std::string& path) const override {
    path = shards_[static_cast<std::size_t>(object)].path;
  }
  std::vector<std::string> roots() const override { return roots_; }
  Extent extent(std::int64_t sample) const override {
    const OpenShard& shard = find_shard(shards_, sample);
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

ItemPart make_part(const ItemFolder& folder, const SourceOptions& options) {
  const char* word = options.classes ? "label" : "column";
  try {
    return {folder.fields, text_parameter(options.words, word), options.classes};
  } catch (const ValueError& error) {
    fail_in_folder(folder.index_path,
                   fmt::format("{}; choose one with ?{}=NAME", error.what(), word));
  }
}

bool are_alike(const ItemFolder& a, const ItemFolder& b) {
  return a.is_packed == b.is_packed && a.fields == b.fields;
}

}  // namespace

std::vector<ItemFolder> open_item_folders(const std::vector<std::string>& paths, ParseIndex parse) {
  std::vector<ItemFolder> folders;
  for (const std::string& path : paths) folders.push_back(open_item_folder(path, parse));
  return folders;
}

bool opens_each_time(const FormatParameters& words) {
  const auto word = words.find("open");
  if (word == words.end() || word->second == "once") return false;
  if (word->second == "sample") return true;
  throw UsageError("data: open=" + shown_text(word->second) + ": expected once or sample",
                   "give open=once to keep shards open, or open=sample as the library does");
}

std::unique_ptr<Source> open_items(const SourceOptions& options, const SourceContext& context,
                                   std::vector<ItemFolder> folders) {
  std::optional<ItemFolder> all;
  for (ItemFolder& folder : folders) {
    if (!all) {
      all = std::move(folder);
      continue;
    }
    if (!are_alike(folder, *all))
      fail_in_folder(folder.index_path, "has other columns, or is compressed otherwise, than " +
                                            shown_text(all->index_path) + "; measure them apart");
    std::move(folder.shards.begin(), folder.shards.end(), std::back_inserter(all->shards));
  }
  std::erase_if(all->shards, [](const OpenShard& shard) { return shard.about.items == 0; });
  if (all->shards.empty()) fail_in_folder(all->index_path, "names no sample");
  auto source =
      std::make_unique<ItemSource>(options, std::move(all->shards), make_part(*all, options));
  if (all->is_packed) {
    source->set_packed(options);
  } else {
    source->read_all_offsets(context);
  }
  return source;
}

}  // namespace loaderscope::source

namespace loaderscope {

std::unique_ptr<Source> open_mds(const SourceOptions& options, const SourceContext& context) {
  return source::open_items(options, context,
                            source::open_item_folders(options.paths, source::parse_mds_index));
}

}  // namespace loaderscope

namespace loaderscope::source {

// The folder of an index.json, and its shards.

namespace {

namespace fs = std::filesystem;

constexpr std::string_view kIndexName = "index.json";
constexpr std::uintmax_t kMaxIndex = std::uintmax_t{1} << 30;

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
  if (size > kMaxIndex) fail_with(path, "is no index.json: it has more than 1 GiB");
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

std::unique_ptr<StoredObject> open_shard(const std::string& path) {
  if (!is_there(path))
    fail_with(path, "is not there; index.json names it, copy it there or write the data again");
  return find_store(path).open(path);
}

}  // namespace

ItemFolder open_item_folder(const std::string& path, ParseIndex parse) {
  const std::string folder = folder_of_index(path);
  ItemFolder opened{join_path(folder, kIndexName), {}, {}, false};
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

void read_offsets(OpenShard& shard) {
  try {
    const std::unique_ptr<StoredObject> file = open_shard(shard.path);
    shard.offsets = read_item_offsets(*file, shard.about.items, file->size());
  } catch (const ValueError& error) {
    fail_with(shard.path, error.what());
  }
}

const CompressionRow& compression_of_shard(const OpenShard& shard) {
  const CompressionRow* row = nullptr;
  try {
    row = detect_compression(*open_shard(shard.path));
  } catch (const ValueError& error) {
    fail_with(shard.path, error.what());
  }
  if (row != nullptr && row->make != nullptr) return *row;
  fail_with(shard.path, row != nullptr
                            ? why_not_read(*row)
                            : fmt::format("is compressed by '{}', which is not read here; write it "
                                          "with zstd, or not compressed",
                                          shown_text(shard.about.packed_by)));
}

}  // namespace loaderscope::source
