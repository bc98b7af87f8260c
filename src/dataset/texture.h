// Noise sheets that cover the surfaces of a made image.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace loaderscope::dataset {

// A periodic square of noise with mean 0 and standard deviation kSigma, whose power falls with
// frequency f as about f^-slope, as it does in photographs.
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
