// The data set that a device keeps, read once before the run. Makers look up its samples. Worker
// processes inherit the table, and not the bytes.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "engine/native/sample_maker.h"

namespace loaderscope::native {

// Reserved memory that is taken page by page as it is written. It begins on a page.
class GrowingBlock {
 public:
  static constexpr Bytes kAlignment = 256;  // places begin at multiples, like allocations on a GPU

  GrowingBlock() = default;
  ~GrowingBlock() { free(); }
  GrowingBlock(const GrowingBlock&) = delete;
  GrowingBlock& operator=(const GrowingBlock&) = delete;

  // Reserves addresses. Throws RunError.
  void reserve(Bytes most);
  // Takes a place for `bytes` and returns its offset; -1: the block is full. Any thread may call.
  Bytes take(Bytes bytes);
  std::byte* at(Bytes offset) const { return begin_ + offset; }
  std::span<const std::byte> used() const;
  void free();

 private:
  std::byte* begin_ = nullptr;
  Bytes most_ = 0;
  std::atomic<Bytes> used_{0};
};

class ResidentData {
 public:
  using Sample = HeldSample;
  struct Options {
    std::int64_t readers = 1;  // threads
    Bytes most_bytes = 0;      // limit of all that is kept
    const std::atomic<int>* stop_signal = nullptr;
  };

  // Reads the samples of an epoch, and decodes them if the plan keeps images. It leaves out those
  // that are for the workers, and those that cannot be used: the run counts them. Throws RunError
  // if memory is short, before the first read if the sizes are known, or if the run must stop.
  ResidentData(const DataPipeline& pipeline, const Options& options);

  // Null: the sample is not kept.
  const Sample* find(std::int64_t sample) const {
    const auto at = static_cast<std::size_t>(sample);
    return at < samples_.size() && samples_[at].is_held ? &samples_[at] : nullptr;
  }
  HeldData data() const { return {block_.used(), samples_}; }
  Bytes size() const { return size_; }
  void free_bytes() { block_.free(); }  // the devices have them

 private:
  friend class ResidentReader;

  std::vector<Sample> samples_;
  GrowingBlock block_;
  Bytes size_ = 0;
};

}  // namespace loaderscope::native
