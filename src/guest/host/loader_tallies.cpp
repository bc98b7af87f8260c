#include "guest/host/loader_tallies.h"

#include <algorithm>
#include <iterator>

namespace loaderscope::guest {

std::optional<std::int64_t> BatchNumbers::assign_number(std::int64_t batch,
                                                        std::int64_t& numbered) {
  constexpr std::int64_t kMaxAhead = std::int64_t{1} << 18;
  constexpr std::size_t kMaxRuns = std::size_t{1} << 16;
  if (batch > next_ + kMaxAhead) return std::nullopt;
  for (; next_ <= batch; ++next_, ++numbered) {
    const bool extends_run =
        !runs_.empty() && runs_.back().second + next_ - runs_.back().first == numbered;
    if (!extends_run) runs_.emplace_back(next_, numbered);
  }
  if (runs_.size() > kMaxRuns) runs_.erase(runs_.begin(), runs_.begin() + kMaxRuns / 2);
  const auto next_run =
      std::upper_bound(runs_.begin(), runs_.end(), batch,
                       [](std::int64_t b, const auto& run) { return b < run.first; });
  if (next_run == runs_.begin()) return std::nullopt;
  return std::prev(next_run)->second + batch - std::prev(next_run)->first;
}

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

namespace {

constexpr Nanos kTakenAtOnce = 200 * kMicrosecond;
// divisor: training holds a batch for at least this part of the step
constexpr Nanos kPartOfStep = 4;
constexpr std::size_t kMaxKept = 4096;  // batches whose gradients one step accumulates
constexpr std::int64_t kMinCount = 3;

}  // namespace

void ResumeSkipDetector::done(Nanos held, Nanos asked) {
  ++batches_;
  at_once_ += held < kTakenAtOnce;
  last_.push_back({held, asked});
  if (last_.size() > kMaxKept) last_.pop_front();
}

// But for some, between which something else was done.
bool ResumeSkipDetector::all_at_once() const {
  return batches_ >= kMinCount && at_once_ >= batches_ - batches_ / 10;
}

ResumeSkipDetector::Skip ResumeSkipDetector::before(Nanos held) const {
  const Nanos at_once = std::min(kTakenAtOnce, held / kPartOfStep);
  const auto skipped = std::find_if(last_.rbegin(), last_.rend(),
                                    [&](const Done& one) { return one.held < at_once; });
  if (skipped == last_.rend()) return {};
  const std::int64_t trained_with = skipped - last_.rbegin();
  const std::int64_t batches = batches_ - trained_with;
  if (batches < kMinCount || at_once_ < batches - batches / 10) return {};
  return {batches, skipped->asked};
}

}  // namespace loaderscope::guest
