#include "probe/made_images.h"

#include <cstdint>

#include "dataset/options.h"
#include "dataset/photograph.h"
#include "loaderscope/errors.h"

namespace loaderscope::probe {
namespace {

constexpr int kDefaultImages = 8;

}  // namespace

std::vector<StoredImage> make_images(int count, int width, int height) {
  const dataset::MakeOptions like;
  const dataset::FormatRow& format = dataset::format_row(like.format);
  if (format.encode == nullptr)
    throw RunError(format.row.reason_not_available().value_or("JPEG cannot be made here"));
  std::vector<StoredImage> images(static_cast<std::size_t>(count));
  dataset::Photographer photographer;
  for (int i = 0; i < count; ++i) {
    const double busyness = 2.0 * (i + 0.5) / count - 1;
    const auto& picture =
        photographer.take({width, height, like.seed, static_cast<std::uint64_t>(i), busyness});
    dataset::LossySettings settings;
    settings.quality = like.quality;
    format.encode(picture, settings, images[static_cast<std::size_t>(i)]);
  }
  return images;
}

std::vector<StoredImage> make_default_images() {
  const dataset::SizeDistribution size = dataset::MakeOptions().size;
  return make_images(kDefaultImages, size.width, size.height);
}

double mean_bytes(const std::vector<StoredImage>& images) {
  double bytes = 0;
  for (const StoredImage& image : images) bytes += static_cast<double>(image.size());
  return images.empty() ? 0 : bytes / static_cast<double>(images.size());
}

}  // namespace loaderscope::probe
