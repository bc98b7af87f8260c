#include "machine/standstill.h"

#include <algorithm>

#include "base/sleep.h"
#include "base/thread_meter.h"
#include "machine/cgroup.h"

namespace loaderscope {
namespace {

constexpr Nanos kBeat = 20 * kMillisecond;
constexpr Nanos kShortest = 250 * kMillisecond;
// A CPU quota that is used up stops all threads until its next period, which is contention.
constexpr Nanos kShortestWithQuota = kSecond;

Nanos shortest_here() { return cgroup_cores("/") ? kShortestWithQuota : kShortest; }

}  // namespace

void Standstills::note_sleep(Nanos begin, Nanos due, Nanos end, Nanos queued) {
  const Nanos late = end - std::max(begin, due);
  if (late - queued < shortest_) return;
  ranges_.push_back({end - late, end - queued});
}

Nanos Standstills::within(Nanos begin, Nanos end) const {
  Nanos sum = 0;
  for (const TimeRange& one : ranges_) sum += intersect(one, {begin, end}).length();
  return sum;
}

StandstillWatch::StandstillWatch() : standstills_(shortest_here()), thread_([this] { watch(); }) {}

StandstillWatch::~StandstillWatch() {
  stop_.store(1);
  thread_.join();
}

void StandstillWatch::watch() {
  RunQueueMeter run_queue;
  if (!run_queue.known()) return;  // a thread that waits for a core is late too
  while (stop_.load(std::memory_order_relaxed) == 0) {
    const Nanos begin = monotonic_now(), due = begin + kBeat;
    sleep_until(due);
    const Nanos end = monotonic_now();
    const Nanos queued = run_queue.read();
    const std::lock_guard lock(mutex_);
    standstills_.note_sleep(begin, due, end, queued);
  }
}

Nanos StandstillWatch::within(Nanos begin, Nanos end) const {
  const std::lock_guard lock(mutex_);
  return standstills_.within(begin, end);
}

}  // namespace loaderscope
