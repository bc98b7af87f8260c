#include "guest/host/send_stats.h"

#include <algorithm>

namespace loaderscope::guest {

void SendStats::Part::add(const Part& other) {
  times += other.times;
  bytes += other.bytes;
  spent_s += other.spent_s;
}

void SendStats::take(const GuestEvent& fact) {
  const double bytes = static_cast<double>(fact.bytes), spent_s = seconds(fact.end - fact.begin);
  if (fact.kind == GuestEventKind::sent) sending_s_ += spent_s;
  if (fact.kind == GuestEventKind::pickled) pickled_.add({1, bytes, spent_s});
  if (fact.kind == GuestEventKind::shared)
    shared_.add({static_cast<double>(fact.count), bytes, spent_s});
}

void SendStats::add(const SendStats& other) {
  sending_s_ += other.sending_s_;
  pickled_.add(other.pickled_);
  shared_.add(other.shared_);
}

std::vector<Metric> SendStats::metrics() const {
  const double batches = pickled_.times;
  if (batches <= 0 || sending_s_ <= 0) return {};
  const auto share = [&](double spent_s) { return std::clamp(spent_s / sending_s_, 0.0, 1.0); };
  std::vector<Metric> metrics = {
      make_metric(
          metric::transport_pickled_share,
          "of the time that a worker takes to send a batch, to pickle it, all but its tensors",
          share(pickled_.spent_s - shared_.spent_s)),
      make_metric(metric::transport_pickled_bytes, "of a batch, pickled",
                  pickled_.bytes / batches)};
  if (shared_.times > 0) {
    metrics.push_back(
        make_metric(metric::transport_copied_share,
                    "of that time, to copy tensors into shared memory that were not made there",
                    share(shared_.spent_s)));
    metrics.push_back(make_metric(metric::transport_copied_bytes, "of a batch, copied so",
                                  shared_.bytes / batches));
  }
  return metrics;
}

}  // namespace loaderscope::guest
