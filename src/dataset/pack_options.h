// Options of `data pack`, and its planned output.
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

// Encoding for images that are decoded and encoded again.
struct Encoding {
  Format format = Format::jpeg;
  int quality = 90;  // only for formats with a quality
};
Encoding parse_encoding(std::string_view text);  // jpeg:90 webp:80 png; throws ValueError
std::string encoding_to_text(const Encoding& encoding);

inline constexpr int kUsualSize = 256;

struct PackOptions {
  std::string from;  // images, as for --data
  std::string to;    // the folder of the shards
  const WriterRow* writer = &writer_table().front();
  const CompressionRow* compression = nullptr;  // compression of whole shards; null: none
  std::optional<Encoding> encode;               // empty: keeps the stored bytes
  int max_side = 0;  // larger images are shrunk to it; 0: none. Needs `encode`
  // Operations that are applied once, with random numbers from `seed`, and written as squares of
  // `size`. Empty: none. Requires `encode`.
  std::vector<std::string> augment;
  int size = kUsualSize;
  Bytes shard_size = kUsualShard;
  // Adds restart markers within the rows of JPEG images, without loss, so that crops decode faster.
  bool restart_rows = false;
  std::int64_t row_group = 0;  // samples of a row group in tables; 0: the default
  std::int64_t most = 0;       // maximum number of samples to pack; 0: all
  bool in_order = false;       // false: shuffled by `seed`
  std::uint64_t seed = 0;
  int threads = 0;  // 0: one per core that this process may use; never changes what is written
};

// Throws UsageError with the flag for options that cannot be packed.
void check_options(const PackOptions& options);
AugmentOptions augment_options(const PackOptions& options);

// Plan of the output. The same samples, shards and options give the same bytes.
struct PackPlan : ShardPlan {
  std::uint64_t digest = 0;  // digest of the samples' names, in order
  double bytes = 0;          // bytes of all shards, approximate
  ImageSides sides;          // sides of an image, if pixels are written
};

}  // namespace loaderscope::dataset
