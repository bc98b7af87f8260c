#include "source/read_counts.h"

namespace loaderscope::source {

std::vector<Metric> ReadCounts::metrics() const {
  const auto count = [](const Count& number) {
    return static_cast<double>(number.load(std::memory_order_relaxed));
  };
  std::vector<Metric> metrics = {
      {"source.opened", "1", "files opened for samples, warm-up included", count(counts_->opened)},
      {"source.requests", "1", "reads that the kernel was asked for", count(counts_->requests)},
      {"source.bytes_brought", "bytes", "what these reads brought", count(counts_->bytes_brought)},
      {"source.bytes_of_samples", "bytes", "what the samples had, unpacked",
       count(counts_->bytes_of_samples)}};
  if (const double packed = count(counts_->packed); packed > 0) {
    const double unpacked = count(counts_->unpacked);
    metrics.push_back({"source.bytes_unpacked", "bytes", "what compressed shards held", unpacked});
    metrics.push_back({"source.unpacked_per_byte", "1",
                       "bytes that came of each byte of compressed shards", unpacked / packed});
  }
  if (const double waited = count(counts_->waited_for_lock); waited > 0) {
    metrics.push_back({"source.waited_for_lock_s", "s",
                       "what readers waited for their library, which lets in one at a time",
                       waited * 1e-9});
  }
  return metrics;
}

double ReadCounts::share_of_lock() const {
  const auto waited = static_cast<double>(counts_->waited_for_lock.load());
  return waited > 0 ? waited / (waited + static_cast<double>(counts_->in_library.load())) : 0;
}

}  // namespace loaderscope::source
