#include "augment/normalise_setting.h"

namespace loaderscope::augment {

std::optional<Normalise> normalise_of(const std::vector<std::string>& operations) {
  for (const std::string& text : operations) {
    if (text.substr(0, text.find(':')) == "normalise")
      return std::get<Normalise>(make_operation(text, 1));
  }
  return std::nullopt;
}

Scaling scaling_of(const Normalise& normalise) {
  Scaling scaling;
  for (std::size_t c = 0; c < 3; ++c) {
    scaling.subtract[c] = static_cast<float>(255 * normalise.mean[c]);
    scaling.multiply[c] = static_cast<float>(1 / (255 * normalise.deviation[c]));
  }
  return scaling;
}

}  // namespace loaderscope::augment
