// `data make --like`: a folder of made images that cost a loader as much as the originals.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "dataset/fill.h"
#include "dataset/info.h"
#include "dataset/make.h"
#include "dataset/plan.h"

namespace loaderscope::dataset {

struct TwinOptions {
  std::string path;                   // the folder to fill
  std::string like;                   // the data, as --data has it
  std::optional<std::int64_t> count;  // number of copies, from all parts of the data; nothing: all
  std::uint64_t seed = 0;
  int threads = 0;
};

// Each image gets a synthetic copy with the same format, sides, subsampling and kind of scans. The
// copy has nearly the same size, by its JPEG quality if a photograph can reach that size. It has
// the same damage: empty, truncated, not an image. No pixel, no name and no metadata of the
// original is copied. Folders of classes are numbered.
//
// Throws UsageError and RunError.
struct TwinResult : MakeResult {
  std::int64_t count = 0;  // images that the folder must have
};
TwinResult make_twin(const TwinOptions& options, const MakeContext& context);

// The synthetic copy of one image.

// Returns the subsampling for making an image with these facts.
Subsampling image_subsampling(const ImageFacts& facts);

// Curves for each subsampling of the JPEG images.
using QualityCurves = std::map<Subsampling, QualityCurve>;
QualityCurves curves_for(const std::vector<SeenImage>& images, std::uint64_t seed);

// All references outlive the maker.
std::unique_ptr<ImageMaker> make_twin_maker(const std::vector<SeenImage>& images,
                                            const QualityCurves& curves, std::uint64_t seed);

}  // namespace loaderscope::dataset
