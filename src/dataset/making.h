// What images of `data make` are made with.
#pragma once

#include <memory>
#include <optional>

#include "dataset/fill.h"
#include "dataset/quality.h"

namespace loaderscope::dataset {

class Making {
 public:
  // Throws UsageError for bytes per pixel that the format does not reach. The options outlive it.
  explicit Making(const MakeOptions& options);

  double bytes() const;  // of all images, a little on the low side
  std::unique_ptr<ImageMaker> make_maker() const;

 private:
  const MakeOptions& options_;
  std::optional<QualityCurve> curve_;
};

}  // namespace loaderscope::dataset
