// Counts of decoded and used video frames, for all threads, and for all processes forked from the
// one that made it.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <vector>

#include "base/shared_memory.h"
#include "loaderscope/run_record.h"

namespace loaderscope {

// Work for one sample.
struct FrameAccess {
  std::int64_t decoded = 0;
  bool is_seek = false;  // began at a key frame
};

class FrameCounts {
 public:
  FrameCounts() : counts_(place<Counts>(shared_)) {}

  void count(const FrameAccess& access, std::int64_t used, Nanos time) const {
    const auto add = [](std::atomic<std::int64_t>& sum, std::int64_t value) {
      sum.fetch_add(value, std::memory_order_relaxed);
    };
    add(counts_->decoded, access.decoded);
    add(counts_->used, used);
    add(counts_->seeks, access.is_seek ? 1 : 0);
    add(counts_->accesses, 1);
    add(counts_->squares, access.decoded * access.decoded);
    add(counts_->time, time / kMicrosecond);
    add(counts_->products, access.decoded * (time / kMicrosecond));
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
    metrics.push_back(make_metric(metric::video_seeks, "times that decoding began at a key frame",
                                  static_cast<double>(counts_->seeks.load())));
    if (const double share = per_frame_share(); share > 0)
      metrics.push_back(make_metric(metric::video_per_frame_share,
                                    "of the decoding time, by a line through all samples", share));
    return metrics;
  }

 private:
  struct Counts {
    std::atomic<std::int64_t> decoded{0}, used{0}, seeks{0}, accesses{0};
    std::atomic<std::int64_t> squares{0}, time{0}, products{0};  // times in us
  };

  // Fits the time of an access by a line over its frames. 0 if unknown.
  double per_frame_share() const {
    constexpr double kMinAccesses = 16;
    const auto value = [](const std::atomic<std::int64_t>& sum) {
      return static_cast<double>(sum.load());
    };
    const double count = value(counts_->accesses), frames = value(counts_->decoded);
    const double time = value(counts_->time);
    if (count < kMinAccesses || time <= 0) return 0;
    const double squares = value(counts_->squares) - frames * frames / count;
    const double products = value(counts_->products) - frames * time / count;
    return squares > 0 ? std::clamp(products / squares * frames / time, 0.0, 1.0) : 0;
  }

  SharedMemory shared_;
  ArenaPtr<Counts> counts_;
};

}  // namespace loaderscope
