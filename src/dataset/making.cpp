#include "dataset/making.h"

#include <fmt/format.h>

#include <vector>

#include "dataset/plan.h"
#include "loaderscope/errors.h"

namespace loaderscope::dataset {
namespace {

std::optional<QualityCurve> curve_for(const MakeOptions& options) {
  if (options.format != Format::jpeg) return std::nullopt;
  return QualityCurve(options.subsampling, options.seed);
}

void check_reachable(const MakeOptions& options, const QualityCurve& curve) {
  if (!options.bytes_per_pixel) return;
  // The spread of the images needs some room at both ends.
  const double least = curve.least() * 1.3, most = curve.most() * 0.8;
  if (*options.bytes_per_pixel >= least && *options.bytes_per_pixel <= most) return;
  throw UsageError(
      fmt::format("--bytes-per-pixel {}: JPEG --subsampling {} reaches {:.2f} to {:.2f}",
                  real_to_text(*options.bytes_per_pixel),
                  kSubsamplingNames[static_cast<std::size_t>(options.subsampling)], least, most),
      "give a value between");
}

class Maker final : public ImageMaker {
 public:
  Maker(const MakeOptions& options, const QualityCurve* curve) : options_(options), curve_(curve) {}

  std::span<const std::byte> make(std::int64_t index) override {
    const PlannedImage plan = plan_image(options_, index);
    const RgbImage& image = photographer_.take(plan.subject);
    if (options_.bytes_per_pixel) {
      encode_to_target(image, plan, options_.subsampling, *curve_, bytes_);
    } else {
      const LossySettings settings{options_.quality, options_.subsampling, plan.progressive};
      row_of(options_.format).encode(image, settings, bytes_);
    }
    return bytes_;
  }

 private:
  const MakeOptions& options_;
  const QualityCurve* curve_;
  Photographer photographer_;
  std::vector<std::byte> bytes_;
};

}  // namespace

Making::Making(const MakeOptions& options) : options_(options), curve_(curve_for(options)) {
  if (curve_) check_reachable(options_, *curve_);
}

double Making::bytes() const {
  const double pixels = static_cast<double>(options_.size.width) * options_.size.height *
                        static_cast<double>(options_.count);
  if (!curve_) return options_.format == Format::raw ? pixels * 3 : pixels * 0.1;
  if (options_.bytes_per_pixel) return pixels * *options_.bytes_per_pixel * 0.95;
  return pixels * curve_->bytes_per_pixel(options_.quality) * 0.7;
}

std::unique_ptr<ImageMaker> Making::make_maker() const {
  return std::make_unique<Maker>(options_, curve_ ? &*curve_ : nullptr);
}

}  // namespace loaderscope::dataset
