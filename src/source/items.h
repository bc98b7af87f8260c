// Samples that are items of shards, as mosaicml-streaming (MDS) and LitData write them.
//
// A shard: how many items, where each begins and the last one ends, as 32-bit numbers; then the
// items. An item: the 32-bit size of each field that has none of its own; then the fields. What the
// fields are, and which shards there are, stands in an index.json beside the shards.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "loaderscope/source.h"
#include "source/compression.h"
#include "source/options.h"
#include "source/read_counts.h"
#include "source/table_columns.h"

namespace loaderscope::source {

class ShardBytes;

struct ItemField {
  std::string name;
  std::string encoding;       // "jpeg", "int", "pil", ...
  std::optional<Bytes> size;  // where all items have as much
  bool operator==(const ItemField&) const = default;
};

struct ItemShard {
  std::string file;         // as it is read, below the folder of the index
  std::string packed_file;  // likewise, compressed; "": there is none
  std::string packed_by;    // as the index has it, "zstd:3"
  std::int64_t items = 0;
  Bytes bytes = 0;  // unpacked
};

struct ItemIndex {
  std::vector<ItemField> fields;
  std::vector<ItemShard> shards;
};

// What an index.json says. Throw ValueError, as it continues "PATH: ".
ItemIndex parse_mds_index(std::string_view text);
ItemIndex parse_litdata_index(std::string_view text);

// Of an item the field that is decoded, or that says the class.
class ItemPart {
 public:
  // `wanted`: its name; "": the one that holds images, or is called as classes are. Throws
  // ValueError, as it continues "PATH: ".
  ItemPart(std::vector<ItemField> fields, std::string_view wanted, bool classes = false);
  // Valid as long as the item is, and until the next call. Throws SampleError.
  std::span<const std::byte> of(std::span<const std::byte> item);

 private:
  std::span<const std::byte> field_of(std::span<const std::byte> item) const;

  std::vector<ItemField> fields_;
  std::size_t chosen_ = 0, sizes_ = 0;  // how many stand in front
  bool is_pixels_ = false;
  bool is_number_ = false, is_signed_ = false;
  std::vector<std::byte> image_;
  ClassText class_;
};

// Of a shard that has `items`, where each begins and the last one ends. Throws ValueError, as it
// continues "PATH: ".
std::vector<std::uint32_t> read_item_offsets(ShardBytes& shard, std::int64_t items,
                                             Bytes shard_bytes);

// A shard that is read.
struct OpenShard {
  std::string path;
  ItemShard about;
  std::int64_t first = 0;              // sample
  std::vector<std::uint32_t> offsets;  // of one that is not compressed
};

// What one of --data names. Its shards are compressed, or they are not: those that are not are
// taken where all of them are there, as a library leaves them that has read all.
struct ItemFolder {
  std::string index_path;
  std::vector<ItemField> fields;
  std::vector<OpenShard> shards;
  bool is_packed = false;
};
using ParseIndex = ItemIndex (*)(std::string_view);
// Throw RunError.
ItemFolder open_item_folder(const std::string& path, ParseIndex parse);
std::vector<ItemFolder> open_item_folders(const std::vector<std::string>& paths, ParseIndex parse);
// Whether a shard is opened for each sample, as ?open= says it. Throws UsageError.
bool opens_each_time(const FormatParameters& words);
// `folders`: of options.paths.
std::unique_ptr<Source> open_items(const SourceOptions& options, const SourceContext& context,
                                   std::vector<ItemFolder> folders);
void read_offsets_of(OpenShard& shard);
const CompressionRow& compression_of_shard(const OpenShard& shard);

// What is read of compressed shards, which one that reads keeps unpacked, the last one.
struct PackedItems {
  const std::vector<OpenShard>& shards;
  const CompressionRow& compression;
  const ReadCounts& counts;
  Bytes largest_sample;
  Bytes memory() const;  // of one reader
};
std::unique_ptr<SampleReader> make_unpacking_reader(const PackedItems& items, ItemPart part);

// The shard that holds the sample.
const OpenShard& shard_of(const std::vector<OpenShard>& shards, std::int64_t sample);

}  // namespace loaderscope::source

namespace loaderscope {

// Throw RunError, or UsageError for words that do not fit.
std::unique_ptr<Source> open_mds(const SourceOptions& options, const SourceContext& context);
std::unique_ptr<Source> open_litdata(const SourceOptions& options, const SourceContext& context);

}  // namespace loaderscope
