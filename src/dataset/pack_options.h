// What `data pack` is asked for, and what it will write.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "dataset/options.h"
#include "dataset/writer.h"
#include "loaderscope/augment.h"
#include "loaderscope/units.h"

namespace loaderscope::dataset {

// Images are decoded and encoded anew.
struct Encoding {
  Format format = Format::jpeg;
  int quality = 90;  // of formats that have one
};
Encoding parse_encoding(std::string_view text);  // jpeg:90 webp:80 png; throws ValueError
std::string encoding_to_text(const Encoding& encoding);

inline constexpr int kUsualSize = 256;

struct PackOptions {
  std::string from;  // images, as --data has them
  std::string to;    // the folder of the shards
  const WriterRow* writer = &writer_table().front();
  const CompressionRow* compression = nullptr;  // of the shards as a whole; null: none
  std::optional<Encoding> encode;               // nothing: the stored bytes as they are
  int max_side = 0;  // larger images are shrunk to it; 0: none. Needs `encode`
  // Done once, with draws by `seed`, and written as squares of `size`; empty: none. Need `encode`.
  std::vector<std::string> augment;
  int size = kUsualSize;
  Bytes shard_size = kUsualShard;
  // JPEG images get restart markers within their rows, without loss: crops of them are decoded
  // faster.
  bool restart_rows = false;
  std::int64_t row_group = 0;  // samples of each, of tables; 0: as usual
  std::int64_t most = 0;       // samples that are packed; 0: all
  bool in_order = false;       // else shuffled by `seed`
  std::uint64_t seed = 0;
  int threads = 0;  // 0: one per core that this process may use; never changes what is written
};

// Throws UsageError for what cannot be packed, naming the flag.
void check_options(const PackOptions& options);
AugmentOptions augmentation_of(const PackOptions& options);

// The same samples, shards and options give the same bytes.
struct PackPlan : ShardPlan {
  std::uint64_t digest = 0;  // of the samples' names, in order
  double bytes = 0;          // of all shards, about
  ImageSides sides;          // of an image, where pixels are written
};

}  // namespace loaderscope::dataset
