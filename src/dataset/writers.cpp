#include <fmt/format.h>

#include <algorithm>

#include "dataset/writer.h"

namespace loaderscope::dataset {

std::span<const WriterRow> writer_table() {
  static const WriterRow rows[] = {
      {{"tar", "Shards of images as WebDataset reads them: shard-000000.tar, ..."},
       tar_path,
       open_tar_writer},
  };
  return rows;
}

// The first ones have a sample more where they are not all as many.
std::int64_t ShardPlan::first(std::int64_t shard) const {
  return shard * (samples / shards) + std::min(shard, samples % shards);
}

std::string key_of(std::int64_t number) { return fmt::format("{:09}", number); }

}  // namespace loaderscope::dataset
