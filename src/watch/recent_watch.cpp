#include "watch/recent_watch.h"

#include <algorithm>

namespace loaderscope::watch {
namespace {

// Means of a quantity over a time, at two moments.
class SinceThen {
 public:
  SinceThen(double time_before, double time_now) : before_(time_before), now_(time_now) {}

  bool is_possible() const { return now_ > before_; }
  double mean(double before, double now) const {
    return std::max(0.0, (now * now_ - before * before_) / (now_ - before_));
  }

 private:
  double before_, now_;
};

void restrict_shares(const SinceThen& since, const Shares& before, Shares& now) {
  now.user = since.mean(before.user, now.user);
  now.system = since.mean(before.system, now.system);
  now.no_core = std::min(1.0, since.mean(before.no_core, now.no_core));
  for (std::size_t i = 0; i < kDoings; ++i)
    now.waits[i] = std::min(1.0, since.mean(before.waits[i], now.waits[i]));
}

void restrict_process(const Watch& before, WatchedProcess& now) {
  for (const WatchedProcess& earlier : before.processes) {
    const SinceThen since(earlier.watched_s, now.watched_s);
    if (earlier.pid == now.pid && earlier.role == now.role && since.is_possible())
      restrict_shares(since, earlier.shares, now.shares);
  }
}

void restrict_waits(Watch& watch) {
  const auto queue = static_cast<std::size_t>(ThreadActivity::queue);
  double sum = 0, trainers = 0;
  for (const WatchedProcess& process : watch.processes) {
    if (process.role != Role::trainer || process.has_ended) continue;
    sum += process.shares.waits[queue];
    ++trainers;
  }
  if (trainers > 0) watch.waits.share = sum / trainers;
}

void restrict_machine(const SinceThen& since, const WatchedMachine& before, WatchedMachine& now) {
  now.busy_cores = since.mean(before.busy_cores, now.busy_cores);
  now.other_cores = since.mean(before.other_cores, now.other_cores);
  if (before.throttled && now.throttled)
    now.throttled = since.mean(*before.throttled, *now.throttled);
  if (before.disk != now.disk) return;
  now.disk_busy = std::min(1.0, since.mean(before.disk_busy, now.disk_busy));
  now.disk_read_per_s = since.mean(before.disk_read_per_s, now.disk_read_per_s);
}

}  // namespace

Watch watch_since(const Watch& before, const Watch& now) {
  Watch recent = now;
  const SinceThen since(before.watched_s, now.watched_s);
  if (!since.is_possible()) return recent;
  recent.watched_s = now.watched_s - before.watched_s;
  recent.own_cpu = since.mean(before.own_cpu, now.own_cpu);
  const SinceThen workers(before.workers_watched_s, now.workers_watched_s);
  if (workers.is_possible()) {
    restrict_shares(workers, before.workers, recent.workers);
    recent.worker_read_per_s = workers.mean(before.worker_read_per_s, now.worker_read_per_s);
    recent.worker_storage_per_s =
        workers.mean(before.worker_storage_per_s, now.worker_storage_per_s);
    recent.workers_watched_s = now.workers_watched_s - before.workers_watched_s;
  }
  for (WatchedProcess& process : recent.processes) restrict_process(before, process);
  if (recent.waits.is_known) restrict_waits(recent);
  restrict_machine(since, before.machine, recent.machine);
  judge(recent);
  return recent;
}

Watch RecentWatch::add(const Watch& now) {
  // The sampler starts again when the first workers appear.
  if (!earlier_.empty() && now.watched_s < earlier_.back().watched_s) earlier_.clear();
  while (earlier_.size() > 1 && now.watched_s - earlier_[1].watched_s >= kSeconds)
    earlier_.pop_front();
  const bool has_minute =
      !earlier_.empty() && now.watched_s - earlier_.front().watched_s >= kSeconds;
  Watch recent = has_minute ? watch_since(earlier_.front(), now) : now;
  if (earlier_.empty() || now.watched_s - earlier_.back().watched_s >= kApart)
    earlier_.push_back(now);
  return recent;
}

}  // namespace loaderscope::watch
