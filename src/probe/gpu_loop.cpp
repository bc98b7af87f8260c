#include "probe/gpu_loop.h"

#include <algorithm>
#include <array>
#include <numeric>

namespace loaderscope::probe {
namespace {

constexpr std::size_t kParts = 3;
constexpr double kMinSeconds = 1e-9;

}  // namespace

GpuLoop::GpuLoop(cuda::Runtime& runtime, cuda::DeviceObjects& objects, std::size_t in_flight)
    : runtime_(runtime), objects_(objects), in_flight_(in_flight) {
  for (std::size_t i = 0; i < in_flight + 1; ++i) free_.push_back(objects.event());
}

void GpuLoop::restart() {
  if (last_.handle != nullptr) free_.push_back(last_);
  last_ = {};
  finished_ = 0;
  is_counting_ = false;
  seconds_.clear();
}

bool GpuLoop::fill() {
  while (pending_.size() < in_flight_) {
    const cuda::Event end = free_.back();
    if (!submit(end)) return false;
    free_.pop_back();
    pending_.push_back(end);
  }
  return true;
}

bool GpuLoop::take_finished() {
  bool has_some = false;
  while (!pending_.empty()) {
    bool is_done = false;
    check(runtime_.query(pending_.front(), is_done));
    if (!is_done) break;
    const cuda::Event end = pending_.front();
    pending_.pop_front();
    if (last_.handle != nullptr) {
      double ms = 0;
      if (is_counting_) {
        check(runtime_.elapsed(last_, end, ms));
        seconds_.push_back(std::max(ms / 1e3, kMinSeconds));
      }
      free_.push_back(last_);
    }
    last_ = end;
    ++finished_;
    has_some = true;
  }
  return has_some;
}

Rate GpuLoop::pieces_per_s() const {
  const std::size_t count = seconds_.size();
  const auto rate = [&](std::size_t from, std::size_t to) {
    const double sum = std::accumulate(seconds_.begin() + static_cast<std::ptrdiff_t>(from),
                                       seconds_.begin() + static_cast<std::ptrdiff_t>(to), 0.0);
    return static_cast<double>(to - from) / sum;
  };
  if (count == 0) return {};
  if (count < kParts) return {rate(0, count), 0};
  std::array<double, kParts> rates{};
  for (std::size_t i = 0; i < kParts; ++i)
    rates[i] = rate(count * i / kParts, count * (i + 1) / kParts);
  std::sort(rates.begin(), rates.end());
  return {rates[1], (rates.back() - rates.front()) / 2 / rates[1]};
}

}  // namespace loaderscope::probe
