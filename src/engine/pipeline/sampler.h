// In which order the samples of a data set are read, and by which rank. One place for all engines.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

namespace loaderscope {

struct SamplerOptions {
  std::int64_t samples = 0;  // per epoch and over all ranks; 0 = endless
  bool shuffle = false;
  // 0: a full shuffle. Else samples pass in order through a buffer of this size, from which each is
  // drawn at random (a WebDataset's shuffle(N)).
  std::int64_t shuffle_buffer = 0;
  std::int64_t ranks = 1;
  // torch's DistributedSampler: every rank has as many samples, either because the first ones of
  // the epoch's order come again at its end, or because the last ones are left out.
  bool drop_uneven = false;
  std::uint64_t seed = 0;
};

// Safe to call from any thread.
class Sampler {
 public:
  // Throws UsageError for a buffer without an end or over more than 2^32 samples: its order is kept
  // in memory, 4 bytes a sample and epoch. The other orders take none, for up to 2^62 samples.
  explicit Sampler(const SamplerOptions& options);

  std::int64_t samples_per_rank() const { return samples_per_rank_; }  // 0 = endless
  // Returns the sample at `position` (from 0) of the rank's epoch.
  std::int64_t at(std::int64_t rank, std::int64_t epoch, std::int64_t position) const;

 private:
  using Order = std::vector<std::uint32_t>;
  struct KeptOrder {
    std::int64_t epoch = -1;
    std::shared_ptr<const Order> order;
  };

  std::shared_ptr<const Order> buffered_order(std::int64_t epoch) const;
  Order draw_buffered_order(std::int64_t epoch) const;

  SamplerOptions options_;
  std::int64_t samples_per_rank_;
  bool buffered_;
  mutable std::mutex mutex_;
  mutable KeptOrder kept_[2];  // ranks may be one epoch apart
};

}  // namespace loaderscope
