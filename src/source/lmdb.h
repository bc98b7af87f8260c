// LMDB files. The samples are the values of their keys: images, or Caffe's Datum with an image.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "loaderscope/source.h"
#include "source/options.h"

namespace loaderscope::source {

inline constexpr std::string_view kLmdbSuffixes[] = {".lmdb", ".mdb"};

// Returns true if a key fits a pattern with one number: "image-%09d", "%d". Throws ValueError for a
// pattern without a number.
bool fits_key(std::string_view pattern, std::string_view key);

// Returns true if the value can only be a Datum.
bool is_datum(std::span<const std::byte> value);

// Returns the image of a Datum. Coded data is returned unchanged. Pixels are stored as a raw image
// in `image`. Throws SampleError.
std::span<const std::byte> image_of_datum(std::span<const std::byte> datum,
                                          std::vector<std::byte>& image);

// Returns the class of a Datum. Throws SampleError.
std::string class_of_datum(std::span<const std::byte> datum);

}  // namespace loaderscope::source

namespace loaderscope {

// Throws RunError, or UsageError for parameters that do not fit.
std::unique_ptr<Source> open_lmdb(const SourceOptions& options, const SourceContext& context);

}  // namespace loaderscope
