// `data make`: a folder of images with the statistics of photographs.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>

#include "dataset/options.h"
#include "dataset/writer.h"
#include "loaderscope/units.h"

namespace loaderscope::dataset {

// Instead of image files.
struct MadeShards {
  const WriterRow* writer = nullptr;
  const CompressionRow* compression = nullptr;  // of the shards as a whole; null: none
  Bytes shard_size = kUsualShard;
  ShardPlan plan;  // is made of the options
};

struct MakeProgress {
  std::int64_t done = 0, total = 0;  // images, those found included
  Bytes bytes = 0;                   // written
};

struct MakeContext {
  const std::atomic<int>* stop_signal = nullptr;  // not 0: finish the images begun, then return
  std::function<void(const MakeProgress&)>
      on_progress;  // may be empty; a few times a second, one thread
};

struct MakeResult {
  std::int64_t made = 0;   // by this call
  std::int64_t found = 0;  // there already
  Bytes bytes = 0;         // written by this call
  bool complete = false;   // false: stopped; the same call goes on
};

// The same options give the same files, whatever the number of threads and however often it was
// interrupted. Throws UsageError for options that make no sense, RunError when the folder cannot
// take the images.
MakeResult make_dataset(const MakeOptions& options, const MakeContext& context);
// Images in another order, so that a shard has those of many classes.
MakeResult make_shards(const MakeOptions& options, MadeShards shards, const MakeContext& context);

// One sentence for people, of a folder that was to have `count` images.
std::string describe(const std::string& path, std::int64_t count, const MakeResult& result);

}  // namespace loaderscope::dataset
