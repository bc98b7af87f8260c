#include <gtest/gtest.h>

#include <functional>

#include "augment/operation.h"
#include "unit/augment/reference.h"

namespace loaderscope::test {
namespace {

constexpr int kSize = 50;
using Colour = std::array<double, 3>;

AugmentOptions with(std::vector<std::string> operations) {
  operations.insert(operations.begin(), "random-resized-crop");
  return {.operations = std::move(operations), .size = kSize, .transfer = Transfer::u8};
}

Plane3 made(const AugmentOptions& options, std::int64_t sample) {
  return sample_values(make_sample(options, picture(90, 80, 1), sample).bytes, options);
}

double cut(double value) { return std::floor(std::clamp(value, 0.0, 255.0)); }
double grey(const Colour& c) { return std::floor(0.2989 * c[0] + 0.587 * c[1] + 0.114 * c[2]); }

template <class Change>
Plane3 changed(Plane3 image, const Change& change) {
  for (std::size_t i = 0; i < image.values.size(); i += 3) {
    const Colour to = change(Colour{image.values[i], image.values[i + 1], image.values[i + 2]});
    std::copy(to.begin(), to.end(), &image.values[i]);
  }
  return image;
}

Plane3 brighter(const Plane3& image, double factor) {
  return changed(image, [&](Colour c) {
    return Colour{cut(c[0] * factor), cut(c[1] * factor), cut(c[2] * factor)};
  });
}

Plane3 blended(const Plane3& image, double factor,
               const std::function<double(const Colour&)>& other) {
  return changed(image, [&](const Colour& c) {
    const double rest = (1 - factor) * other(c);
    return Colour{cut(c[0] * factor + rest), cut(c[1] * factor + rest), cut(c[2] * factor + rest)};
  });
}

Plane3 contrasted(const Plane3& image, double factor) {
  double sum = 0;
  changed(image, [&](const Colour& c) { return sum += grey(c), c; });
  return blended(image, factor, [mean = sum / kSize / kSize](const Colour&) { return mean; });
}

Plane3 saturated(const Plane3& image, double factor) { return blended(image, factor, grey); }

// torchvision's _rgb2hsv and _hsv2rgb on one pixel.
Colour hue_turned(const Colour& from, double turn) {
  const double r = from[0] / 255, g = from[1] / 255, b = from[2] / 255;
  const double most = std::max({r, g, b}), least = std::min({r, g, b}), range = most - least;
  const double s = range == 0 ? 0 : range / most, divisor = range == 0 ? 1 : range;
  const double rc = (most - r) / divisor, gc = (most - g) / divisor, bc = (most - b) / divisor;
  const double h6 = most == r ? bc - gc : most == g ? 2 + rc - bc : 4 + gc - rc;
  double h = std::fmod(h6 / 6 + 1, 1.0) + turn;
  h -= std::floor(h);
  const int sector = static_cast<int>(std::floor(h * 6));
  const double f = h * 6 - sector, p = most * (1 - s), q = most * (1 - s * f),
               t = most * (1 - s * (1 - f));
  const std::array<Colour, 6> sectors = {
      {{most, t, p}, {q, most, p}, {p, most, t}, {p, q, most}, {t, p, most}, {most, p, q}}};
  Colour to = sectors[static_cast<std::size_t>(sector % 6)];
  for (double& value : to) value = std::floor(value * 255.999);
  return to;
}
Plane3 turned(const Plane3& image, double turn) {
  return changed(image, [&](const Colour& c) { return hue_turned(c, turn); });
}

// Rounding down may fall on either side of an exact value that is a whole number.
constexpr double kWholeLevel = 1;

TEST(AugmentColour, MatchesDefinitionOfEachChange) {
  for (std::int64_t sample = 0; sample < 12; ++sample) {
    const Plane3 base = made(with({}), sample);
    const augment::Draws draws{0, 0, sample, 1};
    const auto expect = [&](const char* operation, const Plane3& exact) {
      EXPECT_LE(largest_difference(made(with({operation}), sample), exact), kWholeLevel)
          << operation << " " << sample;
    };
    expect("colour-jitter:0.5", brighter(base, draws.uniform(0, {0.5, 1.5})));
    expect("colour-jitter:0:0.4", contrasted(base, draws.uniform(1, {0.6, 1.4})));
    expect("colour-jitter:0:0.2..3", contrasted(base, draws.uniform(1, {0.2, 3})));
    expect("colour-jitter:0:0:0.9", saturated(base, draws.uniform(2, {0.1, 1.9})));
    expect("colour-jitter:0:0:0:0.5", turned(base, draws.uniform(3, {-0.5, 0.5})));
    expect("colour-jitter:0:0:0:-0.1..0.3", turned(base, draws.uniform(3, {-0.1, 0.3})));
    expect("colour-jitter:0:0:0:0", base);
  }
}

TEST(AugmentColour, AppliesAllFourChangesInEveryOrder) {
  std::array<int, 24> seen{};
  for (std::int64_t sample = 0; sample < 300; ++sample) {
    const Plane3 base = made(with({}), sample),
                 all = made(with({"colour-jitter:0.9:0.9:0.9:0.5"}), sample);
    const augment::Draws draws{0, 0, sample, 1};
    std::array<int, 4> order = {0, 1, 2, 3};
    double best = 256;
    std::size_t best_order = 0;
    for (std::size_t i = 0; i < seen.size();
         ++i, std::next_permutation(order.begin(), order.end())) {
      Plane3 image = base;
      for (const int change : order) {
        const double factor = draws.uniform(static_cast<unsigned>(change), {0.1, 1.9});
        if (change == 0) image = brighter(image, factor);
        if (change == 1) image = contrasted(image, factor);
        if (change == 2) image = saturated(image, factor);
        if (change == 3) image = turned(image, draws.uniform(3, {-0.5, 0.5}));
      }
      double sum = 0;
      for (std::size_t v = 0; v < image.values.size(); ++v)
        sum += std::abs(image.values[v] - all.values[v]);
      const double mean = sum / static_cast<double>(image.values.size());
      if (mean < best) best = mean, best_order = i;
    }
    ++seen[best_order];
    EXPECT_LE(best, 0.5) << sample;
  }
  EXPECT_EQ(std::ranges::count(seen, 0), 0);
}

TEST(AugmentColour, KeepsGreyWhenHueTurns) {
  Plane3 image(kSize, kSize);
  for (std::size_t i = 0; i < image.values.size(); ++i)
    image.values[i] = static_cast<double>(i / 3 % 256);
  AugmentOptions options = with({"colour-jitter:0:0:0:0.5"});
  options.operations[0] = "resize-centre-crop:50";
  EXPECT_EQ(sample_values(make_sample(options, image).bytes, options).values, image.values);
}

}  // namespace
}  // namespace loaderscope::test
