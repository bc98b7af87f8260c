// Random numbers of the data-set maker: the same on every machine, so of libm only sqrt, which is
// exact, and no std distribution.
#pragma once

#include <cstdint>
#include <utility>

#include <cmath>

#include "base/hash.h"

namespace loaderscope::dataset {

class Random {
 public:
  Random(std::uint64_t seed, std::uint64_t stream) : state_(mixed(mixed(seed) ^ stream)) {}

  std::uint64_t bits() { return mixed(state_++); }
  double uniform() { return static_cast<double>(bits() >> 11) * 0x1p-53; }  // [0, 1)
  double between(double low, double high) { return low + (high - low) * uniform(); }
  int below(int n) { return static_cast<int>(uniform() * n); }
  bool chance(double probability) { return uniform() < probability; }

  // Mean 0, variance 1, never beyond +-3.5: the sum of four uniform draws.
  double normal() {
    constexpr double kScale = 1.7320508075688772;
    const double sum = uniform() + uniform() + uniform() + uniform();
    return (sum - 2) * kScale;
  }

  // A point on the unit circle.
  std::pair<double, double> direction() {
    while (true) {
      const double x = between(-1, 1), y = between(-1, 1), square = x * x + y * y;
      if (square > 1 || square < 1e-3) continue;
      const double length = std::sqrt(square);
      return {x / length, y / length};
    }
  }

 private:
  std::uint64_t state_;
};

}  // namespace loaderscope::dataset
