// Fills a folder with shards of samples that are made by many threads, a shard each; goes on where
// it was stopped.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>

#include "dataset/writer.h"
#include "loaderscope/run_record.h"

namespace loaderscope::dataset {

// What a thread makes samples with.
class SampleMaker {
 public:
  virtual ~SampleMaker() = default;
  // The one at this place of the order in which they are packed; valid until the next call. Throws
  // SampleError for what is left out.
  virtual PackedSample make(std::int64_t place) = 0;
};

struct ShardFilling {
  Container container;
  const WriterRow* writer = nullptr;
  int threads = 0;                           // 0: one per core; never changes what is written
  std::function<SampleMaker&()> make_maker;  // by each thread once; they outlive it
  std::function<std::string(std::int64_t place)> describe;  // of what may be left out
  const std::atomic<int>* stop_signal = nullptr;  // not 0: shards that are not whole are left out
  // Samples, those of shards found included. May be empty; of one thread.
  std::function<void(std::int64_t done)> on_progress;
};

struct ShardsFilled {
  std::int64_t found = 0;          // shards that were there already
  std::int64_t samples_found = 0;  // places of them
  std::int64_t written = 0;        // shards
  std::int64_t samples = 0;        // in those written
  Bytes bytes = 0;                 // likewise
  SkippedSamples skipped;          // left out
  bool complete = false;           // false: stopped
};

// With what stands beside the shards, where all are there.
ShardsFilled fill_shards(const ShardFilling& filling);

}  // namespace loaderscope::dataset
