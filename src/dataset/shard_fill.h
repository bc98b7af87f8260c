// Fills a folder with shards of samples, each made by one of many threads. Resumes an interrupted
// run.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>

#include "dataset/writer.h"
#include "loaderscope/run_record.h"

namespace loaderscope::dataset {

// Maker of samples for a thread.
class SampleMaker {
 public:
  virtual ~SampleMaker() = default;
  // Returns the sample at a place of the packing order. Valid until the next call. Throws
  // SampleError for samples to leave out.
  virtual PackedSample make(std::int64_t place) = 0;
};

struct ShardFilling {
  Container container;
  const WriterRow* writer = nullptr;
  int threads = 0;                           // 0: one per core; never changes what is written
  std::function<SampleMaker&()> make_maker;  // called once by each thread; the makers outlive it
  std::function<std::string(std::int64_t place)> describe;  // name of a sample that may be left out
  const std::atomic<int>* stop_signal = nullptr;  // not 0: shards that are not whole are left out
  // Samples, those of shards found included. May be empty; of one thread.
  std::function<void(std::int64_t done)> on_progress;
};

struct ShardsFilled {
  std::int64_t found = 0;          // shards that were there already
  std::int64_t samples_found = 0;  // places of them
  std::int64_t written = 0;        // shards
  std::int64_t samples = 0;        // samples in the written shards
  Bytes bytes = 0;                 // bytes of the written shards
  SkippedSamples skipped;          // left out
  bool complete = false;           // false: stopped
};

// Fills the shards, and writes the files next to them once all shards exist.
ShardsFilled fill_shards(const ShardFilling& filling);

}  // namespace loaderscope::dataset
