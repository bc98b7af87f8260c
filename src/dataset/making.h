// State for making the images of `data make`.
#pragma once

#include <memory>
#include <optional>

#include "dataset/fill.h"
#include "dataset/quality.h"

namespace loaderscope::dataset {

class Making {
 public:
  // Throws UsageError if the format cannot reach the bytes per pixel. The options outlive it.
  explicit Making(const MakeOptions& options);

  double bytes() const;  // size of all images, slightly underestimated
  std::unique_ptr<ImageMaker> make_maker() const;

 private:
  const MakeOptions& options_;
  std::optional<QualityCurve> curve_;
};

}  // namespace loaderscope::dataset
