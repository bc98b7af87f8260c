// Counts of decoded and used video frames, for all threads, and for all processes forked from the
// one that made it.
#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

#include "base/shared_memory.h"
#include "loaderscope/run_record.h"

namespace loaderscope {

class FrameCounts {
 public:
  FrameCounts() : counts_(place<Counts>(shared_)) {}

  void count(std::int64_t decoded, std::int64_t used) const {
    counts_->decoded.fetch_add(decoded, std::memory_order_relaxed);
    counts_->used.fetch_add(used, std::memory_order_relaxed);
  }
  std::vector<Metric> metrics() const {
    const auto decoded = static_cast<double>(counts_->decoded.load());
    const auto used = static_cast<double>(counts_->used.load());
    if (decoded <= 0) return {};
    std::vector<Metric> metrics = {
        make_metric(metric::video_frames_decoded, "that codecs gave, warm-up included", decoded),
        make_metric(metric::video_frames_used, "of them: what samples were made of", used)};
    if (used > 0)
      metrics.push_back(make_metric(metric::video_decoded_per_used, "frames", decoded / used));
    return metrics;
  }

 private:
  struct Counts {
    std::atomic<std::int64_t> decoded{0}, used{0};
  };
  SharedMemory shared_;
  ArenaPtr<Counts> counts_;
};

}  // namespace loaderscope
