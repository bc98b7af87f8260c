// The folder of an index.json, and its shards.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>
#include <utility>

#include "loaderscope/errors.h"
#include "source/items.h"
#include "source/store.h"
#include "source/walk.h"

namespace loaderscope::source {
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
  return store_of(path).open(path);
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

void read_offsets_of(OpenShard& shard) {
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
    row = compression_of(*open_shard(shard.path));
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
