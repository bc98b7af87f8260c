// Cuts out, resizes and mirrors: decoded pixels to rows of the sample, one at a time.
#pragma once

#include <vector>

#include "augment/axis.h"
#include "augment/taps.h"
#include "loaderscope/decode.h"

namespace loaderscope::augment {

// Each output row is first blended from its source rows over the width of the crop, which needs no
// gathering, then resized horizontally: no row is resized twice, and mirroring costs nothing.
// Memory is kept between samples.
class Resampler {
 public:
  Resampler(int size, bool antialias) : size_(size), antialias_(antialias) {}

  // Throws std::logic_error when the pixels lack a part of what the view reads.
  void prepare(const View& view, const Pixels& pixels, bool mirrored);

  // Row y, padded to a multiple of kPad pixels. `pixels` of prepare() must still be valid.
  void make_row(int y, std::uint32_t* out);

 private:
  void check(const Region& held) const;
  void find_source(const Pixels& pixels, const Region& held);

  int size_;
  bool antialias_;
  Taps columns_, rows_;
  int fraction_ = 0;                      // binary places of row_
  const std::uint8_t* source_ = nullptr;  // pixel (columns_.read.low, rows_.read.low)
  std::size_t stride_ = 0, values_ = 0;
  std::vector<const std::uint8_t*> blended_;
  std::vector<std::uint8_t> narrow_;
  std::vector<std::int16_t> row_;
};

}  // namespace loaderscope::augment
