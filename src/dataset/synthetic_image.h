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

// The one that is made of what an image has.
Subsampling subsampling_of(const ImageFacts& facts);

// Of each subsampling that JPEG images among them have.
using QualityCurves = std::map<Subsampling, QualityCurve>;
QualityCurves curves_for(const std::vector<SeenImage>& images, std::uint64_t seed);

// What is given by reference outlives it.
std::unique_ptr<ImageMaker> make_twin_maker(const std::vector<SeenImage>& images,
                                            const QualityCurves& curves, std::uint64_t seed);

}  // namespace loaderscope::dataset
