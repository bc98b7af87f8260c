// Kinds of operations in the list. Each maker is in the operation's own .cpp. registry.cpp lists
// them.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string_view>
#include <variant>
#include <vector>

#include "augment/axis.h"
#include "augment/draws.h"
#include "loaderscope/augment.h"

namespace loaderscope::augment {

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
  virtual void apply(Image& image, const Draws& draws) = 0;
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

}  // namespace loaderscope::augment
