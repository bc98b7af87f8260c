// torchvision's ColorJitter on 8-bit images: each change rounds down to 8 bits before the next.
#include <algorithm>
#include <utility>

#include "augment/colour_math.h"
#include "augment/kernels.h"
#include "augment/operation.h"

namespace loaderscope::augment {
namespace {

constexpr std::size_t kChanges = 4;  // brightness, contrast, saturation, hue

class ColourJitter final : public ImageOperation {
 public:
  explicit ColourJitter(const std::array<Range, kChanges>& ranges) : ranges_(ranges) {}

  std::optional<RecipeStep> draw(const Draws& draws, int) const override {
    RecipeStep step{.kind = RecipeStep::Kind::colour};
    step.order.fill(RecipeStep::kNoChange);
    std::size_t count = 0;
    for (const std::size_t change : order(draws)) {
      if (ranges_[change].is(change == kHue ? 0 : 1)) continue;  // not asked for
      step.order[count++] = static_cast<std::uint8_t>(change);
      step.values[change] = draws.uniform(static_cast<std::uint32_t>(change), ranges_[change]);
    }
    return count > 0 ? std::optional(step) : std::nullopt;
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

  std::array<Range, kChanges> ranges_;
};

// The mean of the grey image. The padding of the rows is left out.
double mean_grey(const Image& image) {
  std::int64_t sum = 0;
  for (int y = 0; y < image.size; ++y) {
    const std::uint32_t* row = image.row(y);
    const std::size_t whole = static_cast<std::size_t>(image.size) / kPad * kPad;
    sum += sum_grey(row, whole);
    alignas(64) std::array<std::uint32_t, kPad> rest{};
    std::copy(row + whole, row + image.size, rest.begin());
    sum += sum_grey(rest.data(), rest.size());
  }
  return grey_mean(sum, image.size);
}

}  // namespace

void change_colours(Image& image, const RecipeStep& step) {
  std::uint32_t* const pixels = image.pixels.data();
  const std::size_t n = image.pixels.size();
  for (const std::uint8_t number : step.order) {
    if (number == RecipeStep::kNoChange) return;
    const double mean = number == kContrast ? mean_grey(image) : 0;
    const ColourChange change = make_change(number, step.values[number], mean);
    if (number == kSaturation) {
      blend_grey(pixels, n, change.factor);
    } else if (number == kHue) {
      turn_hue(pixels, n, change.factor);
    } else {
      scale_values(pixels, n, change.factor, change.offset);
    }
  }
}

Operation make_colour_jitter(std::string_view parameters, int) {
  constexpr Range kFactor{0, 16}, kTurn{-0.5, 0.5};
  constexpr std::array<std::string_view, kChanges> kNames = {"the brightness", "the contrast",
                                                             "the saturation", "the hue"};
  auto given = split_parameters(parameters, kChanges);
  if (given.empty()) given = {"0.4", "0.4", "0.4", "0.1"};
  std::array<Range, kChanges> ranges = {{{1, 1}, {1, 1}, {1, 1}, {0, 0}}};
  for (std::size_t i = 0; i < given.size(); ++i) {
    ranges[i] = parse_spread(given[i], kNames[i], i == kHue ? 0 : 1, i == kHue ? kTurn : kFactor);
  }
  return std::make_unique<ColourJitter>(ranges);
}

}  // namespace loaderscope::augment
