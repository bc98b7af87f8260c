// Contents of a made image: surfaces that cover each other, like objects in a photograph.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "dataset/random.h"

namespace loaderscope::dataset {

// A patch of one material. Colours are YCbCr in units of 1/32 level, Cb and Cr around 0.
struct Surface {
  std::int32_t colour[3] = {};  // at (x, y)
  int x = 0, y = 0;
  std::int32_t slope_x = 0, slope_y = 0;  // slope of the luminance, in 1/65536 level per pixel
  std::int16_t gain[3] = {};              // texture: 1/512 level of standard deviation
  int sheet = 0;
  int offset_x = 0, offset_y = 0;  // position on the sheet
  double roughness = 0;            // 0 (sky) to 1 (foliage)
};

struct Scene {
  int width = 0, height = 0;
  std::vector<Surface> surfaces;
  std::vector<std::uint16_t> labels;  // visible surface of each pixel

  std::uint16_t label(int x, int y) const {
    return labels[static_cast<std::size_t>(y) * static_cast<std::size_t>(width) +
                  static_cast<std::size_t>(x)];
  }
};

// A dead-leaves scene, painted from large to small with a share of area per octave of size that is
// the same at all scales; small things gather where the large ones beneath are rough. `busyness` is
// about normal: 0 is a photograph of ordinary detail.
void compose(Scene& scene, int width, int height, double busyness, Random& random);

// Noise sheets that cover the surfaces of a made image. A periodic square of noise with mean 0 and
// standard deviation kSigma, whose power falls with frequency f as about f^-slope, as it does in
// photographs.
class TextureSheet {
 public:
  static constexpr int kSide = 512;
  static constexpr int kSigma = 4096;

  // `roll_off` is the factor by which each finer octave is weaker than the one above; 1 gives a
  // slope of 2.
  TextureSheet(double roll_off, std::uint64_t stream);

  // 2 x kSide values, so that kSide of them can be read in one go from any column.
  const std::int16_t* row(int y) const {
    return values_.data() + static_cast<std::size_t>(y & (kSide - 1)) * (2 * kSide);
  }

 private:
  std::vector<std::int16_t> values_;
};

inline constexpr int kSurfaces = 4;  // sheets from rough (0) to soft

// Sheets for surfaces and, last, white noise for the sensor. Made at the first call, then only
// read.
struct TextureSheets {
  std::array<TextureSheet, kSurfaces> surfaces;
  TextureSheet grain;
};
const TextureSheets& texture_sheets();

}  // namespace loaderscope::dataset
