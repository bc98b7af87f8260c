// Samples that are items of shards, as mosaicml-streaming (MDS) and LitData write them.
//
// A shard contains the number of items, the begin of each item and the end of the last one, as
// 32-bit numbers, and then the items. An item contains the 32-bit size of each field without a
// fixed size, and then the fields. An index.json next to the shards lists the fields and the
// shards.
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
  std::optional<Bytes> size;  // set if all items have the same size
  bool operator==(const ItemField&) const = default;
};

struct ItemShard {
  std::string file;         // path below the folder of the index
  std::string packed_file;  // path of the compressed file; "": not compressed
  std::string packed_by;    // name in the index, "zstd:3"
  std::int64_t items = 0;
  Bytes bytes = 0;  // unpacked
};

struct ItemIndex {
  std::vector<ItemField> fields;
  std::vector<ItemShard> shards;
};

// Parse an index.json. Throw ValueError, which continues "PATH: ".
ItemIndex parse_mds_index(std::string_view text);
ItemIndex parse_litdata_index(std::string_view text);

// The field of an item that is decoded, or that has the class.
class ItemPart {
 public:
  // `wanted` is the name of the field; "": the field that holds images, or has a usual name of a
  // class. Throws ValueError, which continues "PATH: ".
  ItemPart(std::vector<ItemField> fields, std::string_view wanted, bool classes = false);
  // Valid as long as the item, and until the next call. Throws SampleError.
  std::span<const std::byte> extract(std::span<const std::byte> item);

 private:
  std::span<const std::byte> select_field(std::span<const std::byte> item) const;

  std::vector<ItemField> fields_;
  std::size_t chosen_ = 0, sizes_ = 0;  // chosen field; number of sizes before the fields
  bool is_pixels_ = false;
  bool is_number_ = false, is_signed_ = false;
  std::vector<std::byte> image_;
  ClassText class_;
};

// Returns the begin of each item in a shard of `items`, and the end of the last one. Throws
// ValueError, which continues "PATH: ".
std::vector<std::uint32_t> read_item_offsets(ShardBytes& shard, std::int64_t items,
                                             Bytes shard_bytes);

// A shard of an opened folder.
struct OpenShard {
  std::string path;
  ItemShard about;
  std::int64_t first = 0;              // number of the first sample
  std::vector<std::uint32_t> offsets;  // empty for compressed shards
};

// The folder of one path of --data. Either all shards are compressed or none. Uncompressed shards
// are used if all of them exist, as after a library has read the whole data set.
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
// Returns true if ?open= requires an open for each sample. Throws UsageError.
bool opens_each_time(const FormatParameters& words);
// `folders` are the folders of options.paths.
std::unique_ptr<Source> open_items(const SourceOptions& options, const SourceContext& context,
                                   std::vector<ItemFolder> folders);
void read_offsets(OpenShard& shard);
const CompressionRow& compression_of_shard(const OpenShard& shard);

// Compressed shards. A reader keeps the last one unpacked.
struct PackedItems {
  const std::vector<OpenShard>& shards;
  const CompressionRow& compression;
  const ReadCounts& counts;
  Bytes largest_sample;
  Bytes memory() const;  // memory of one reader
};
std::unique_ptr<SampleReader> make_unpacking_reader(const PackedItems& items, ItemPart part);

// Returns the shard of the sample.
const OpenShard& find_shard(const std::vector<OpenShard>& shards, std::int64_t sample);

}  // namespace loaderscope::source

namespace loaderscope {

// Throw RunError, or UsageError for parameters that do not fit.
std::unique_ptr<Source> open_mds(const SourceOptions& options, const SourceContext& context);
std::unique_ptr<Source> open_litdata(const SourceOptions& options, const SourceContext& context);

}  // namespace loaderscope
