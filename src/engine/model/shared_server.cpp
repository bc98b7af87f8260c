#include "engine/model/shared_server.h"

#include <algorithm>
#include <cmath>

#include "loaderscope/events.h"

namespace loaderscope::model {
namespace {

constexpr std::int64_t kFine = 1024;  // parts of a ns in which progress is counted
constexpr std::int64_t kMillion = 1'000'000;
constexpr std::int64_t kRebase = std::int64_t{1} << 61;

constexpr auto kLater = [](const auto& a, const auto& b) {
  return a.mark != b.mark ? a.mark > b.mark : a.who > b.who;
};

}  // namespace

SharedServer::SharedServer(double capacity, double scaling, double others)
    : capacity_milli_(std::max<std::int64_t>(std::llround(capacity * 1000), 1)),
      scaling_ppm_(std::max<std::int64_t>(std::llround(scaling * kMillion), 1)),
      others_milli_(std::max<std::int64_t>(std::llround(others * 1000), 0)),
      speed_(speed_of(0)),
      next_end_(kNever) {}

SharedServer::Speed SharedServer::speed_of(std::size_t works) const {
  const std::int64_t n_milli = static_cast<std::int64_t>(works) * 1000 + others_milli_;
  const bool shared = n_milli > capacity_milli_;
  const std::int64_t busy_milli = std::min(n_milli, capacity_milli_);
  // Linear between one core busy (1) and all of them (scaling).
  std::int64_t scaling = kMillion;
  if (busy_milli > 1000 && capacity_milli_ > 1000) {
    scaling -= (kMillion - scaling_ppm_) * (busy_milli - 1000) / (capacity_milli_ - 1000);
  }
  if (!shared) return {scaling, kMillion, 0, 1};
  return {capacity_milli_ * scaling, n_milli * kMillion, n_milli - capacity_milli_, n_milli};
}

void SharedServer::advance(Nanos now) {
  const Nanos passed = now - now_;
  if (passed == 0) return;
  now_ = now;
  if (heap_.empty()) return;
  const Wide fine = static_cast<Wide>(passed) * kFine;
  if (speed_.numerator == speed_.denominator) {
    progress_ += static_cast<std::int64_t>(fine);
  } else {
    progress_ += static_cast<std::int64_t>(fine * speed_.numerator / speed_.denominator);
  }
  if (speed_.waiting_numerator != 0) {
    waited_ += fine * speed_.waiting_numerator / speed_.waiting_denominator;
  }
}

void SharedServer::plan_next() {
  speed_ = speed_of(heap_.size());
  if (heap_.empty()) {
    progress_ = 0;
    next_end_ = kNever;
    return;
  }
  if (progress_ > kRebase) {
    for (Work& work : heap_) work.mark -= progress_;
    progress_ = 0;
  }
  const Wide left = std::max<Wide>(static_cast<Wide>(heap_.front().mark) - progress_, 0);
  const Wide divisor = static_cast<Wide>(speed_.numerator) * kFine;
  const Wide takes = (left * speed_.denominator + divisor - 1) / divisor;
  next_end_ = now_ + static_cast<Nanos>(std::min<Wide>(takes, kNever - 1 - now_));
}

void SharedServer::add(Nanos now, std::uint64_t who, Nanos amount) {
  advance(now);
  heap_.push_back({progress_ + amount * kFine, who});
  std::push_heap(heap_.begin(), heap_.end(), kLater);
  plan_next();
}

void SharedServer::end_next(Nanos now) {
  advance(now);
  // Rounding may leave progress a fraction of a ns short of the mark that was reached.
  progress_ = std::max(progress_, heap_.front().mark);
  std::pop_heap(heap_.begin(), heap_.end(), kLater);
  heap_.pop_back();
  plan_next();
}

Nanos SharedServer::waited(Nanos now) {
  advance(now);
  return static_cast<Nanos>(waited_ / kFine);
}

}  // namespace loaderscope::model
