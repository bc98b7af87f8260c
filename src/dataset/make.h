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

// Shards to write in place of image files.
struct MadeShards {
  const WriterRow* writer = nullptr;
  const CompressionRow* compression = nullptr;  // compression of whole shards; null: none
  Bytes shard_size = kUsualShard;
  ShardPlan plan;  // computed from the options
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
  std::int64_t made = 0;   // written by this call
  std::int64_t found = 0;  // there already
  Bytes bytes = 0;         // written by this call
  bool complete = false;   // false: stopped; the same call resumes
};

// Makes the data set. The same options give the same files, for any number of threads and
// interruptions. Throws UsageError for invalid options, RunError if the folder cannot store the
// images.
MakeResult make_dataset(const MakeOptions& options, const MakeContext& context);
// Makes images in shuffled order, so that a shard has those of many classes.
MakeResult make_shards(const MakeOptions& options, MadeShards shards, const MakeContext& context);

// Returns one sentence about a folder that must have `count` images.
std::string describe(const std::string& path, std::int64_t count, const MakeResult& result);

}  // namespace loaderscope::dataset
