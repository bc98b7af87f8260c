// `data pack`: images become shards.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>

#include "dataset/pack_options.h"
#include "dataset/re_encoder.h"
#include "dataset/shard_fill.h"

namespace loaderscope::dataset {

struct PackProgress {
  std::int64_t done = 0, total = 0;  // samples, those of shards found included
};

struct PackContext {
  const std::atomic<int>* stop_signal = nullptr;  // not 0: shards that are not whole are left out
  std::function<void(const PackProgress&)> on_progress;  // may be empty; one thread
};

struct PackResult : ShardsFilled {
  PackPlan plan;
  Bytes stored = 0;               // bytes of the packed samples before packing
  Nanos took = 0;                 // time without listing the samples
  std::int64_t as_they_were = 0;  // samples without restart markers, though requested
  PixelError error;               // error of some images
  bool has_labels = false;        // each sample has a known class, or the data has no classes
};

// Samples are numbered as in `run --data`. Shards with names get names in that form, with the class
// if the data has classes. Throws UsageError for invalid options, RunError if reading or writing
// fails.
PackResult pack_dataset(const PackOptions& options, const PackContext& context);

// Returns a sentence, the omissions, and the command that reads the shards.
std::string describe(const PackOptions& options, const PackResult& result);

}  // namespace loaderscope::dataset
