// Limits on pauses and repetitions of requests.
#pragma once

#include <cstdint>
#include <optional>

#include "loaderscope/units.h"

namespace loaderscope::source {

// Policy of one reader. It limits retries to a tenth of the successful requests, and some at the
// beginning, to protect a server in trouble.
class RetryPolicy {
 public:
  static constexpr int kMaxTries = 6;       // tries of one request
  static constexpr double kMaxAtOnce = 50;  // saved retries
  static constexpr Nanos kFirstPause = 100'000'000;
  static constexpr Nanos kMaxPause = 10'000'000'000;
  static constexpr double kMaxAskedFor = 60;  // maximum pause in seconds that a server may request

  void went_well() { left_ = left_ + 0.1 < kMaxAtOnce ? left_ + 0.1 : kMaxAtOnce; }
  // Returns the pause after `tries` tries. It is random, from 0 to a limit that doubles each time,
  // or slightly more than the server's request. Nothing: give up.
  std::optional<Nanos> pause(int tries, std::optional<double> server_asks);

 private:
  double uniform();

  double left_ = kMaxAtOnce;
  std::uint64_t state_ = 0;  // state of the random numbers; 0: not begun
};

}  // namespace loaderscope::source
