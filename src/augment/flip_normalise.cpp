// The two operations that are folded into others: flip into the resize, normalise into the output.
#include "augment/operation.h"
#include "loaderscope/errors.h"

namespace loaderscope::augment {

Operation make_flip(std::string_view parameters, int) {
  const auto given = split_parameters(parameters, 1);
  return given.empty() ? Flip{} : Flip{parse_number(given[0], "the probability", {0, 1})};
}

Operation make_normalise(std::string_view parameters, int) {
  constexpr Range kMean{0, 1}, kDeviation{1e-3, 1e3};
  auto given = split_parameters(parameters, 6);
  if (given.empty()) given = {"0.485", "0.456", "0.406", "0.229", "0.224", "0.225"};
  if (given.size() != 2 && given.size() != 6) {
    throw ValueError("expected MEAN:DEVIATION, or three means and three deviations, not " +
                     std::to_string(given.size()) + " numbers");
  }
  Normalise normalise;
  for (std::size_t channel = 0; channel < 3; ++channel) {
    const std::size_t mean = given.size() == 6 ? channel : 0,
                      deviation = given.size() == 6 ? channel + 3 : 1;
    normalise.mean[channel] = parse_number(given[mean], "the mean", kMean);
    normalise.deviation[channel] = parse_number(given[deviation], "the deviation", kDeviation);
  }
  return normalise;
}

}  // namespace loaderscope::augment
