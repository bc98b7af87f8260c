// The family of writers: the formats that samples are packed in, shard by shard. Each is read by
// the source of its name.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "loaderscope/rows.h"
#include "loaderscope/units.h"
#include "source/compression.h"

namespace loaderscope::dataset {

// Division of samples into shards.
struct ShardPlan {
  std::int64_t samples = 0, shards = 0;
  std::int64_t classes = 0;  // labels are below it; 0: samples have none

  // Shard s holds the places [first(s), first(s + 1)) of the order in which samples are packed.
  std::int64_t first(std::int64_t shard) const;
};

inline constexpr Bytes kUsualShard = Bytes{256} << 20;
inline constexpr Bytes kMinShard = Bytes{1} << 20;
inline constexpr std::int64_t kUsualRowGroup = 100;  // default of `datasets` for images

struct ImageSides {
  std::uint32_t width = 0, height = 0;
  bool operator==(const ImageSides&) const = default;
};

// Settings for writing shards.
struct Container {
  std::string folder;
  ShardPlan plan;
  const CompressionRow* compression = nullptr;  // null: none
  ImageSides sides = {};                        // sides of all images, if pixels are written
  std::int64_t row_group = kUsualRowGroup;      // samples of a row group, for tables
};

struct PackedSample {
  std::int64_t number = 0;  // number in the original data
  std::string_view suffix;  // ".jpg"
  std::span<const std::byte> bytes;
  std::int32_t label = 0;
};

// Writer of one thread. Throws RunError. An unfinished shard leaves no incomplete file.
class ShardWriter {
 public:
  virtual ~ShardWriter() = default;
  virtual void add(const PackedSample& sample) = 0;
  virtual void finish() = 0;
  virtual Bytes bytes() const = 0;  // written so far
};

struct WriterRow {
  Row row;
  // Returns the file that exists once the shard is complete. The same samples give the same bytes.
  std::string (*stored_path)(const Container& container, std::int64_t shard);
  std::unique_ptr<ShardWriter> (*open)(const Container& container, std::int64_t shard);
  // Writes the files next to the shards, once all shards exist. Null: none.
  void (*finish)(const Container& container) = nullptr;
  // Suffix of compressed shards; null: compression is not supported.
  std::string_view CompressionRow::*packed_ending = nullptr;
  std::string_view packed_words = {};  // parameters of compressed shards for --data
  bool takes_pixels = false;           // takes pixels, and no coded images
  bool is_loose = false;               // a sample is a file
  bool takes_row_groups = false;       // --row-group
  bool holds_tokens = false;           // tokens are made, not packed: the row opens nothing
};

std::span<const WriterRow> writer_table();

// Throws UsageError with the flag if the writer does not support the compression.
void check_compression(const WriterRow& writer, const CompressionRow* compression);
// Requires a compression that can pack. Throws ValueError.
const CompressionRow& parse_compression(std::string_view text);

// Parsed [FORMAT:]PATH. Throws ValueError for a format that cannot be written.
struct Target {
  const WriterRow* writer = nullptr;  // null: not said
  std::string folder;
};
Target parse_target(std::string_view text);
// Returns the value of --data for the written shards.
std::string data_text(const WriterRow& writer, const std::string& folder,
                      const CompressionRow* compression);

// "000000031", by which shards name their samples.
std::string sample_key(std::int64_t number);

// FOLDER/shard-000000 with its ending.
std::string shard_path(const Container& container, std::int64_t shard, std::string_view ending);
std::string tar_path(const Container& container, std::int64_t shard);
std::unique_ptr<ShardWriter> open_tar_writer(const Container& container, std::int64_t shard);
std::string files_note_path(const Container& container, std::int64_t shard);
std::unique_ptr<ShardWriter> open_files_writer(const Container& container, std::int64_t shard);
std::string mds_path(const Container& container, std::int64_t shard);
std::unique_ptr<ShardWriter> open_mds_writer(const Container& container, std::int64_t shard);
void write_mds_index(const Container& container);
std::string tfrecord_path(const Container& container, std::int64_t shard);
std::unique_ptr<ShardWriter> open_tfrecord_writer(const Container& container, std::int64_t shard);
std::string npy_path(const Container& container, std::int64_t shard);
std::unique_ptr<ShardWriter> open_npy_writer(const Container& container, std::int64_t shard);
std::string parquet_path(const Container& container, std::int64_t shard);
std::unique_ptr<ShardWriter> open_parquet_writer(const Container& container, std::int64_t shard);
std::string lmdb_path(const Container& container, std::int64_t shard);
std::unique_ptr<ShardWriter> open_lmdb_writer(const Container& container, std::int64_t shard);
std::string hdf5_path(const Container& container, std::int64_t shard);
std::unique_ptr<ShardWriter> open_hdf5_writer(const Container& container, std::int64_t shard);
// Checks images for formats of pixels. Throws RunError if an image has other sides than the first.
void check_sides(const Container& container, const PackedSample& sample);
ImageSides image_sides(std::span<const std::byte> raw_image);

}  // namespace loaderscope::dataset
