// An image in memory on its way into a data set.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace loaderscope::dataset {

struct RgbImage {
  int width = 0, height = 0;
  std::vector<std::uint8_t> rgb;  // rows without padding

  std::size_t stride() const { return static_cast<std::size_t>(width) * 3; }
  const std::uint8_t* row(int y) const {
    return rgb.data() + static_cast<std::size_t>(y) * stride();
  }
  std::uint8_t* row(int y) { return rgb.data() + static_cast<std::size_t>(y) * stride(); }
};

}  // namespace loaderscope::dataset
