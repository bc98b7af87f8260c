#include "dataset/make.h"

#include <fmt/format.h>

#include <vector>

#include "dataset/files.h"
#include "dataset/fill.h"
#include "dataset/manifest.h"
#include "dataset/plan.h"
#include "dataset/quality.h"
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
  throw UsageError(fmt::format(
      "--bytes-per-pixel {}: JPEG --subsampling {} reaches {:.2f} to {:.2f}; give a value between",
      spell_real(*options.bytes_per_pixel),
      kSubsamplingNames[static_cast<std::size_t>(options.subsampling)], least, most));
}

// Bytes of the whole data set, a little on the low side.
double estimated_bytes(const MakeOptions& options, const std::optional<QualityCurve>& curve) {
  const double pixels = static_cast<double>(options.size.width) * options.size.height *
                        static_cast<double>(options.count);
  if (!curve) return options.format == Format::raw ? pixels * 3 : pixels * 0.1;
  if (options.bytes_per_pixel) return pixels * *options.bytes_per_pixel * 0.95;
  return pixels * curve->bytes_per_pixel(options.quality) * 0.7;
}

// Somebody may have removed some since the manifest was written.
bool has_all_images(const MakeOptions& options) {
  for (std::int64_t index = 0; index < options.count; ++index) {
    if (!is_written(options.path + "/" + image_path(options, index))) return false;
  }
  return true;
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

MakeResult fill(const MakeOptions& options, const QualityCurve* curve, const MakeContext& context) {
  Filling filling;
  filling.folder = options.path;
  filling.count = options.count;
  filling.threads = options.threads;
  filling.path_of = [&](std::int64_t index) { return image_path(options, index); };
  filling.make_maker = [&] { return std::make_unique<Maker>(options, curve); };
  return fill_folder(filling, context);
}

}  // namespace

MakeResult make_dataset(const MakeOptions& options, const MakeContext& context) {
  check_options(options);
  const MadeFolder folder = made_folder(options);
  const FolderState before = state_of_folder(folder);
  if (before == FolderState::complete && has_all_images(options))
    return {0, options.count, 0, true};
  const std::optional<QualityCurve> curve = curve_for(options);
  if (curve) check_reachable(options, *curve);
  make_folder(options.path);
  const FolderLock lock(options.path);
  if (before == FolderState::fresh) {
    demand_space(options.path, estimated_bytes(options, curve), "lower --count");
    write_manifest(folder, false);
  }
  for (std::int64_t i = 0; i < options.classes; ++i) {
    make_folder(options.path + "/" + class_folder(options, i));
  }
  const MakeResult result = fill(options, curve ? &*curve : nullptr, context);
  if (result.complete) {
    lock.sync();  // so that no note outlives, in a power cut, the images that it vouches for
    write_manifest(folder, true);
  }
  return result;
}

std::string describe(const std::string& path, std::int64_t count, const MakeResult& result) {
  const std::string place = shown_text(path);
  if (!result.complete) {
    return fmt::format("{}: stopped with {} of {} images; the same command goes on", place,
                       result.made + result.found, count);
  }
  if (result.made == 0) return fmt::format("{}: holds these {} images already", place, count);
  return fmt::format(
      "{}: {} images made, {} ({} each){}", place, result.made,
      show_size(static_cast<double>(result.bytes)),
      show_size(static_cast<double>(result.bytes) / static_cast<double>(result.made)),
      result.found > 0 ? fmt::format(", {} were there", result.found) : "");
}

}  // namespace loaderscope::dataset
