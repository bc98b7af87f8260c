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

namespace loaderscope::dataset {

// What samples are divided into.
struct ShardPlan {
  std::int64_t samples = 0, shards = 0;
  std::int64_t classes = 0;  // labels are below it; 0: samples have none

  // Shard s holds the places [first(s), first(s + 1)) of the order in which samples are packed.
  std::int64_t first(std::int64_t shard) const;
};

// What shards are written with.
struct Container {
  std::string folder;
  ShardPlan plan;
};

struct PackedSample {
  std::int64_t number = 0;  // in the data that it comes from
  std::string_view suffix;  // ".jpg"
  std::span<const std::byte> bytes;
  std::int32_t label = 0;
};

// Of one thread. Throws RunError. What is not finished leaves nothing behind.
class ShardWriter {
 public:
  virtual ~ShardWriter() = default;
  virtual void add(const PackedSample& sample) = 0;
  virtual void finish() = 0;
  virtual Bytes bytes() const = 0;  // written so far
};

struct WriterRow {
  Row row;
  // The file that is there once the shard is whole. The same samples give the same bytes.
  std::string (*path_of)(const Container& container, std::int64_t shard);
  std::unique_ptr<ShardWriter> (*open)(const Container& container, std::int64_t shard);
};

std::span<const WriterRow> writer_table();

// "000000031", by which shards name their samples.
std::string key_of(std::int64_t number);

std::string tar_path(const Container& container, std::int64_t shard);
std::unique_ptr<ShardWriter> open_tar_writer(const Container& container, std::int64_t shard);

}  // namespace loaderscope::dataset
