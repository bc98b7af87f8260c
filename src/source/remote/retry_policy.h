// How long is waited before a request is made again, and how often.
#pragma once

#include <cstdint>
#include <optional>

#include "loaderscope/units.h"

namespace loaderscope::source {

// Of one reader. A server in trouble is not asked more and more: what may be tried again is a
// tenth of what goes well, and some at the beginning.
class RetryPolicy {
 public:
  static constexpr int kMaxTries = 6;       // of one request
  static constexpr double kMaxAtOnce = 50;  // tries again, saved up
  static constexpr Nanos kFirstPause = 100'000'000;
  static constexpr Nanos kMaxPause = 10'000'000'000;
  static constexpr double kMaxAskedFor = 60;  // seconds that a server may ask for

  void went_well() { left_ = left_ + 0.1 < kMaxAtOnce ? left_ + 0.1 : kMaxAtOnce; }
  // After so many tries: between nothing and twice as long as the time before, or what the server
  // asks for and a bit more. Nothing: give up.
  std::optional<Nanos> pause(int tries, std::optional<double> server_asks);

 private:
  double uniform();

  double left_ = kMaxAtOnce;
  std::uint64_t state_ = 0;  // of the draws; 0: not begun
};

}  // namespace loaderscope::source
