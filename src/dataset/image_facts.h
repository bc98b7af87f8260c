// What the first bytes of an image file say, without decoding it. Reads hostile bytes: every length
// is checked.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "base/image_formats.h"

namespace loaderscope::dataset {

using Kind = ImageKind;

struct ImageFacts {
  Kind kind = Kind::unknown;
  std::int64_t width = 0, height = 0;
  std::string_view subsampling;   // of JPEG: "420" "422" "444" "440" "411" "grey" "cmyk" "other"
  bool progressive = false;       // of JPEG
  int quality = 0;                // of JPEG, as libjpeg counts it, from its tables; 0: not known
  std::string_view damage;        // "" or what is wrong, in words
  bool more_needed = false;       // the bytes end before the facts do
  std::int64_t header_bytes = 0;  // of JPEG: where the first scan begins
};

// `begin`: the first bytes of a file, all of it or some.
ImageFacts image_facts(std::span<const std::byte> begin);

// The JPEG part of it.
ImageFacts jpeg_facts(std::span<const std::byte> begin);

// Whether an end-of-image marker stands in `bytes`.
bool has_jpeg_end(std::span<const std::byte> bytes);

}  // namespace loaderscope::dataset
