// The two rules that choose the crop, after torchvision's transforms of these names.
#include <algorithm>
#include <cmath>

#include "augment/operation.h"
#include "loaderscope/errors.h"

namespace loaderscope::augment {
namespace {

// Python's round(): halves go to the even neighbour.
int rounded(double value) { return static_cast<int>(std::nearbyint(value)); }

// An axis of torchvision's resized_crop: the crop is cut out before it is resized, so nothing
// outside is read.
AxisMap cut_axis(int begin, int length, int outputs) {
  return {static_cast<double>(begin), static_cast<double>(length) / outputs, begin, begin + length};
}

class RandomResizedCrop final : public CropRule {
 public:
  RandomResizedCrop(int size, Range area, Range ratio) : size_(size), area_(area), ratio_(ratio) {}

  View choose(const ImageHeader& header, const Draws& draws) const override {
    const Region box = choose_box(header, draws);
    return {cut_axis(box.x, box.width, size_), cut_axis(box.y, box.height, size_)};
  }

 private:
  static constexpr std::uint32_t kTries = 10;

  Region choose_box(const ImageHeader& header, const Draws& draws) const {
    const double pixels = static_cast<double>(header.width) * header.height;
    const Range log_ratio = {std::log(ratio_.low), std::log(ratio_.high)};
    for (std::uint32_t i = 0; i < kTries; ++i) {
      const double area = pixels * draws.uniform(2 * i, area_);
      const double ratio = std::exp(draws.uniform(2 * i + 1, log_ratio));
      const double width = std::nearbyint(std::sqrt(area * ratio));
      const double height = std::nearbyint(std::sqrt(area / ratio));
      if (width < 1 || width > header.width || height < 1 || height > header.height) continue;
      const int w = static_cast<int>(width), h = static_cast<int>(height);
      const int y = draws.below(2 * kTries, header.height - h + 1);
      const int x = draws.below(2 * kTries + 1, header.width - w + 1);
      return {x, y, w, h};
    }
    return central_box(header);
  }

  // The largest box of an allowed ratio. One that rounds to nothing is one pixel.
  Region central_box(const ImageHeader& header) const {
    int w = header.width, h = header.height;
    const double ratio = static_cast<double>(w) / h;
    if (ratio < ratio_.low) h = std::max(1, rounded(w / ratio_.low));
    if (ratio > ratio_.high) w = std::max(1, rounded(h * ratio_.high));
    return {(header.width - w) / 2, (header.height - h) / 2, w, h};
  }

  int size_;
  Range area_, ratio_;
};

// The whole image is resized as if, and only the pixels of the centre are made: the filter reads
// across the box.
class ResizeCentreCrop final : public CropRule {
 public:
  ResizeCentreCrop(int size, int short_side) : size_(size), short_side_(short_side) {}

  View choose(const ImageHeader& header, const Draws&) const override {
    const bool wide = header.width > header.height;
    const std::int64_t longest = wide ? header.width : header.height;
    const std::int64_t shortest = wide ? header.height : header.width;
    const auto resized = static_cast<double>(short_side_ * longest / shortest);
    return {axis(header.width, wide ? resized : short_side_),
            axis(header.height, wide ? short_side_ : resized)};
  }

 private:
  AxisMap axis(int length, double resized) const {
    const double scale = length / resized;
    return {std::nearbyint((resized - size_) / 2) * scale, scale, 0, length};
  }

  int size_;
  int short_side_;
};

constexpr Range kArea{0.08, 1}, kRatio{3.0 / 4, 4.0 / 3};

}  // namespace

Operation make_random_resized_crop(std::string_view parameters, int size) {
  Range area = kArea, ratio = kRatio;
  const auto given = split_parameters(parameters, 2);
  if (!given.empty()) area = parse_range(given[0], "the share of the area", {1e-6, 1});
  if (given.size() > 1) ratio = parse_range(given[1], "width / height", {1e-3, 1e3});
  return std::make_unique<RandomResizedCrop>(size, area, ratio);
}

Operation make_resize_centre_crop(std::string_view parameters, int size) {
  constexpr int kMaxShortSide = 16384;
  int short_side = rounded(size * 8.0 / 7);
  const auto given = split_parameters(parameters, 1);
  if (!given.empty()) {
    const double side =
        parse_number(given[0], "the short side", {static_cast<double>(size), kMaxShortSide});
    short_side = rounded(side);
    if (short_side != side) throw ValueError("expected the short side as a whole number of pixels");
  }
  return std::make_unique<ResizeCentreCrop>(size, short_side);
}

}  // namespace loaderscope::augment
