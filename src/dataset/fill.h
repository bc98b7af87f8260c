// Fills a folder with images that are a pure function of their index, with many threads. Resumes an
// interrupted run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "dataset/make.h"
#include "dataset/plan.h"

namespace loaderscope::dataset {

// Maker of one thread.
class ImageMaker {
 public:
  virtual ~ImageMaker() = default;
  // Valid until the next call. Throws RunError.
  virtual std::span<const std::byte> make(std::int64_t index) = 0;
};

struct ShardFill {
  std::string folder;
  std::int64_t count = 0;
  int threads = 0;                                             // 0: one per core
  std::function<std::string(std::int64_t index)> sample_path;  // relative to the folder
  std::function<std::unique_ptr<ImageMaker>()> make_maker;
};

MakeResult fill_folder(const ShardFill& filling, const MakeContext& context);

// State for making the images of `data make`.
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
