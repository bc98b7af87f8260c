// LMDB files: the values of their keys are the samples, images or Caffe's Datum of one.
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

// Whether a key is of the form of a pattern with one number: "image-%09d", "%d". Throws ValueError
// for a pattern that has none.
bool fits_key(std::string_view pattern, std::string_view key);

// Whether a value can be nothing else than a Datum.
bool is_datum(std::span<const std::byte> value);

// The image of a Datum: its data as they are, where they are coded, else pixels in a raw image,
// which `image` then holds. Throws SampleError.
std::span<const std::byte> image_of_datum(std::span<const std::byte> datum,
                                          std::vector<std::byte>& image);

// Its class. Throws SampleError.
std::string class_of_datum(std::span<const std::byte> datum);

}  // namespace loaderscope::source

namespace loaderscope {

// Throws RunError, or UsageError for words that do not fit.
std::unique_ptr<Source> open_lmdb(const SourceOptions& options, const SourceContext& context);

}  // namespace loaderscope
