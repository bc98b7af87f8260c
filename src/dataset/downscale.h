// Makes an image smaller: each new pixel is the mean of the area that it covers.
#pragma once

#include "dataset/pixels.h"
#include "loaderscope/decode.h"

namespace loaderscope::dataset {

// The longer side becomes `max_side` where it is more, the other one keeps the proportion; 0, or a
// smaller image: a copy. `to` is used again.
void shrink(const Pixels& pixels, int max_side, RgbImage& to);

}  // namespace loaderscope::dataset
