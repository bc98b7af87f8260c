// The synthetic copy of one image.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "dataset/fill.h"
#include "dataset/info.h"
#include "dataset/quality.h"

namespace loaderscope::dataset {

// Returns the subsampling for making an image with these facts.
Subsampling subsampling_of(const ImageFacts& facts);

// Curves for each subsampling of the JPEG images.
using QualityCurves = std::map<Subsampling, QualityCurve>;
QualityCurves curves_for(const std::vector<SeenImage>& images, std::uint64_t seed);

// All references outlive the maker.
std::unique_ptr<ImageMaker> make_twin_maker(const std::vector<SeenImage>& images,
                                            const QualityCurves& curves, std::uint64_t seed);

}  // namespace loaderscope::dataset
