#include "probe/timed_reads.h"

#include <algorithm>
#include <limits>
#include <mutex>

#include "base/thread_meter.h"
#include "base/thread_team.h"

namespace loaderscope::probe {

Done read_by(int threads, const std::function<ReadOne()>& make, Nanos time,
             const std::atomic<int>& stop) {
  std::mutex mutex;
  Done all;
  all.begin = std::numeric_limits<Nanos>::max();
  ThreadTeam team(&stop);
  const Nanos until = monotonic_now() + time;
  const auto work = [&] {
    const ReadOne read = make();
    Done own;
    own.begin = own.end = monotonic_now();
    while (own.end < until && !team.stopping()) {
      const double bytes = read();
      if (bytes < 0) break;
      own.end = monotonic_now();
      own.bytes += bytes;
      ++own.reads;
    }
    const std::lock_guard lock(mutex);
    all.bytes += own.bytes;
    all.reads += own.reads;
    all.thread_s += seconds(own.end - own.begin);
    if (own.reads == 0) return;
    all.begin = std::min(all.begin, own.begin);
    all.end = std::max(all.end, own.end);
  };
  team.run_beside(threads, work, [] {});
  return all;
}

void Speeds::add(const Done& done) {
  if (done.reads <= 0 || done.end <= done.begin) return;
  rates_.push_back(done.bytes / seconds(done.end - done.begin));
  reads_ += done.reads;
  thread_s_ += done.thread_s;
}

std::optional<Speed> Speeds::speed() {
  if (rates_.empty()) return std::nullopt;
  std::sort(rates_.begin(), rates_.end());
  const double median = rates_[rates_.size() / 2];
  return Speed{median, median > 0 ? (rates_.back() - rates_.front()) / 2 / median : 0,
               thread_s_ / reads_, reads_};
}

}  // namespace loaderscope::probe
