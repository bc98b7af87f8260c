// Kinds of operations in the list. Each maker is in the operation's own .cpp. registry.cpp lists
// them.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <variant>
#include <vector>

#include "augment/taps.h"
#include "loaderscope/augment.h"
#include "loaderscope/cost.h"

namespace loaderscope::augment {

// The random numbers of one sample: a hash, so that nothing depends on who makes the sample and
// when.
struct Range {
  double low = 0, high = 0;
  bool is(double value) const { return low == value && high == value; }
};

// The draws of one operation of one sample. The place in the list of operations keeps equal
// operations apart.
struct Draws {
  std::uint64_t seed = 0;
  std::int64_t epoch = 0, sample = 0;
  std::uint32_t operation = 0;

  // Returns a value with 0 < result < 1. `number` < 64 distinguishes the random numbers of the
  // operation. Salts below 64 belong to declared costs.
  double uniform(std::uint32_t number) const {
    return uniform_draw(seed, epoch, sample, Stage::augment, 64 * (operation + 1) + number);
  }
  double uniform(std::uint32_t number, Range range) const {
    return range.low + (range.high - range.low) * uniform(number);
  }
  // Returns a value in 0 .. count - 1.
  int below(std::uint32_t number, int count) const {
    return static_cast<int>(uniform(number) * count);
  }
};

// The sample between the operations; a pixel is R | G << 8 | B << 16. Rows are padded to a multiple
// of kPad.
struct Image {
  int size = 0;            // pixels of both sides
  std::size_t stride = 0;  // pixels per row
  std::vector<std::uint32_t> pixels;

  Image(int side, int rows);
  std::uint32_t* row(int y) { return pixels.data() + static_cast<std::size_t>(y) * stride; }
  const std::uint32_t* row(int y) const {
    return pixels.data() + static_cast<std::size_t>(y) * stride;
  }
};

// Chooses what of an image becomes the sample. The first operation, and only the first.
class CropRule {
 public:
  virtual ~CropRule() = default;
  virtual View choose(const ImageHeader& header, const Draws& draws) const = 0;
};

// Changes the pixels of a sample in place.
class ImageOperation {
 public:
  virtual ~ImageOperation() = default;
  // Returns the step for a sample of `size` pixels on both sides. Returns nothing if the draws
  // leave the pixels as they are.
  virtual std::optional<RecipeStep> draw(const Draws& draws, int size) const = 0;
};

// Follow a step of the kind that their names say.
void mirror(Image& image);
void change_colours(Image& image, const RecipeStep& step);
class Warp {
 public:
  void apply(Image& image, const RecipeStep& step);

 private:
  std::vector<std::uint32_t> bordered_;  // a copy of the image that can be read beyond its edges
};

struct Flip {
  double probability = 0.5;
};

// output = (value / 255 - mean) / deviation, per channel.
struct Normalise {
  std::array<double, 3> mean{}, deviation{1, 1, 1};
};

using Operation =
    std::variant<std::unique_ptr<CropRule>, std::unique_ptr<ImageOperation>, Flip, Normalise>;

// Each takes the parameters without the name and throws ValueError.
Operation make_random_resized_crop(std::string_view parameters, int size);
Operation make_resize_centre_crop(std::string_view parameters, int size);
Operation make_flip(std::string_view parameters, int size);
Operation make_rotate(std::string_view parameters, int size);
Operation make_affine(std::string_view parameters, int size);
Operation make_colour_jitter(std::string_view parameters, int size);
Operation make_normalise(std::string_view parameters, int size);

// "NAME[:PARAMETERS]" by the table; the message of the ValueError begins with the operation.
Operation make_operation(std::string_view text, int size);

// Reads the parameters of an operation: values between colons, a value being a number or a range
// MIN..MAX.

// The pieces between colons; none for "". Throws ValueError when there are more than `most`.
std::vector<std::string_view> split_parameters(std::string_view text, std::size_t most);

// A number within `allowed`, which may be negative. `what` names it in the ValueError.
double parse_number(std::string_view text, std::string_view what, Range allowed);

// MIN..MAX, both within `allowed` and in that order.
Range parse_range(std::string_view text, std::string_view what, Range allowed);

// MIN..MAX, or D for centre - D .. centre + D cut to `allowed`.
Range parse_spread(std::string_view text, std::string_view what, double centre, Range allowed);

}  // namespace loaderscope::augment
