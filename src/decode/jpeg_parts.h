// Parts of a JPEG whose restart markers divide its rows. The part for a region becomes an image of
// its own. The data outside of it is neither decoded nor parsed into symbols.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "decode/jpeg_codec.h"

namespace loaderscope {

class JpegParts {
 public:
  struct Part {
    int x = 0, y = 0;                       // position of its first pixel in the image: whole MCUs
    std::span<const unsigned char> stored;  // valid until the next call
  };

  // `header` was read from `stored`, up to `scan_begin`. The pixels of `region` equal those of the
  // whole image; upsampling reads `margin` pixels around it. Returns nothing if a part saves
  // nothing: without markers, or if the whole image is wanted. Also returns nothing for unexpected
  // markers.
  std::optional<Part> part(std::span<const unsigned char> stored,
                           const jpeg_decompress_struct& header, std::size_t scan_begin,
                           const Region& region, int margin);

 private:
  struct Grid;
  struct Range;
  bool find_segments(std::span<const unsigned char> scan, std::size_t last);
  bool put_header(std::span<const unsigned char> header, int width, int height);
  void put_segments(std::span<const unsigned char> scan, const Grid& grid, const Range& range);

  std::vector<unsigned char> made_;
  // Begins of the first segments of the scan, and the end of the last of them.
  std::vector<std::size_t> begins_;
};

}  // namespace loaderscope
