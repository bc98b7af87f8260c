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
  Bytes stored = 0;               // of the samples that were packed before they were
  Nanos took = 0;                 // without what it takes to find them
  std::int64_t as_they_were = 0;  // samples that got no restart markers, though asked for
  PixelError error;               // of some of them
  bool has_labels = false;        // it is known which class a sample is of, or that there are none
};

// Samples are numbered as `run --data` numbers them, and where shards have names they are so named,
// with their class where there are classes. Throws UsageError for options that make no
// sense, RunError when nothing can be read or written.
PackResult pack_dataset(const PackOptions& options, const PackContext& context);

// For people: a sentence, what was left out, and the command that reads the shards.
std::string describe(const PackOptions& options, const PackResult& result);

}  // namespace loaderscope::dataset
