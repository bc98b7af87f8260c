#include "guest/host/resume_skip_detector.h"

#include <algorithm>

namespace loaderscope::guest {
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
