#include "source/remote/retry_policy.h"

#include <algorithm>
#include <random>

namespace loaderscope::source {

double RetryPolicy::uniform() {
  if (state_ == 0) state_ = std::random_device{}() | 1u;
  state_ ^= state_ << 13;
  state_ ^= state_ >> 7;
  state_ ^= state_ << 17;
  return static_cast<double>(state_ >> 11) / static_cast<double>(std::uint64_t{1} << 53);
}

std::optional<Nanos> RetryPolicy::pause(int tries, std::optional<double> server_asks) {
  if (tries >= kMaxTries || left_ < 1) return std::nullopt;
  if (server_asks && *server_asks > kMaxAskedFor) return std::nullopt;
  left_ -= 1;
  const Nanos most = std::min(kMaxPause, kFirstPause << std::min(tries - 1, 20));
  const double jitter = uniform();
  if (server_asks) {
    const auto asked = static_cast<Nanos>(*server_asks * 1e9);
    return asked + static_cast<Nanos>(jitter * static_cast<double>(kFirstPause));
  }
  return static_cast<Nanos>(jitter * static_cast<double>(most));
}

}  // namespace loaderscope::source
