// torchvision's ColorJitter on 8-bit images: each change rounds down to 8 bits before the next.
#include <algorithm>
#include <cmath>
#include <utility>

#include "augment/kernels.h"
#include "augment/operation.h"

namespace loaderscope::augment {
namespace {

constexpr std::size_t kChanges = 4;  // brightness, contrast, saturation, hue
constexpr double kOne = 65536;

std::int32_t fixed(double value) { return static_cast<std::int32_t>(std::lround(value * kOne)); }

class ColourJitter final : public ImageOperation {
 public:
  explicit ColourJitter(const std::array<Range, kChanges>& ranges) : ranges_(ranges) {}

  void apply(Image& image, const Draws& draws) override {
    for (const std::size_t change : order(draws)) {
      const double factor = draws.uniform(static_cast<std::uint32_t>(change), ranges_[change]);
      if (ranges_[change].is(change == 3 ? 0 : 1)) continue;  // not asked for
      if (change == 0) brightness(image, factor);
      if (change == 1) contrast(image, factor);
      if (change == 2) blend_grey(image.pixels.data(), image.pixels.size(), fixed(factor));
      if (change == 3) turn_hue(image.pixels.data(), image.pixels.size(), sixths(factor));
    }
  }

 private:
  static std::array<std::size_t, kChanges> order(const Draws& draws) {
    std::array<std::size_t, kChanges> places = {0, 1, 2, 3};
    for (std::uint32_t left = kChanges; left > 1; --left) {
      const int chosen = draws.below(kChanges + left, static_cast<int>(left));
      std::swap(places[left - 1], places[static_cast<std::size_t>(chosen)]);
    }
    return places;
  }

  static void brightness(Image& image, double factor) {
    scale_values(image.pixels.data(), image.pixels.size(), fixed(factor), 0);
  }

  // Away from the mean of the grey image, or towards it. The padding of the rows is left out of the
  // mean.
  static void contrast(Image& image, double factor) {
    std::int64_t sum = 0;
    for (int y = 0; y < image.size; ++y) {
      const std::uint32_t* row = image.row(y);
      const std::size_t whole = static_cast<std::size_t>(image.size) / kPad * kPad;
      sum += sum_grey(row, whole);
      alignas(64) std::array<std::uint32_t, kPad> rest{};
      std::copy(row + whole, row + image.size, rest.begin());
      sum += sum_grey(rest.data(), rest.size());
    }
    const double mean = static_cast<double>(sum) / (static_cast<double>(image.size) * image.size);
    scale_values(image.pixels.data(), image.pixels.size(), fixed(factor),
                 fixed((1 - factor) * mean));
  }

  static std::int32_t sixths(double turns) {
    const std::int32_t circle = fixed(6);
    return (fixed(6 * turns) + circle) % circle;
  }

  std::array<Range, kChanges> ranges_;
};

}  // namespace

Operation make_colour_jitter(std::string_view parameters, int) {
  constexpr Range kFactor{0, 16}, kTurn{-0.5, 0.5};
  constexpr std::array<std::string_view, kChanges> kNames = {"the brightness", "the contrast",
                                                             "the saturation", "the hue"};
  auto given = split_parameters(parameters, kChanges);
  if (given.empty()) given = {"0.4", "0.4", "0.4", "0.1"};
  std::array<Range, kChanges> ranges = {{{1, 1}, {1, 1}, {1, 1}, {0, 0}}};
  for (std::size_t i = 0; i < given.size(); ++i) {
    ranges[i] = parse_spread(given[i], kNames[i], i == 3 ? 0 : 1, i == 3 ? kTurn : kFactor);
  }
  return std::make_unique<ColourJitter>(ranges);
}

}  // namespace loaderscope::augment
