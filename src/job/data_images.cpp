#include "job/data_images.h"

#include <algorithm>
#include <memory>
#include <string_view>

#include "dataset/image_facts.h"
#include "dataset/jpeg_engines.h"
#include "loaderscope/cost.h"
#include "loaderscope/errors.h"
#include "loaderscope/source.h"
#include "record/family_traits.h"
#include "source/registry.h"

namespace loaderscope {
namespace {

constexpr std::int64_t kMaxDrawnImages = 256;
constexpr std::int64_t kImageDraw = -5;  // the place of the epoch in draws

bool is_on_server(const DataConfig& data) {
  return std::any_of(data.paths.value.begin(), data.paths.value.end(),
                     [](const std::string& path) { return path.find("://") != path.npos; });
}

struct SeenImages {
  double images = 0, pixels = 0, for_engines = 0;

  void add(const dataset::ImageFacts& facts) {
    if (!facts.damage.empty() || facts.width <= 0 || facts.height <= 0) return;
    ++images;
    pixels += static_cast<double>(facts.width) * static_cast<double>(facts.height);
    for_engines += dataset::engine_refusal(facts).empty() ? 1 : 0;
  }
};

SeenImages seen_images(const RunConfig& config) {
  SourceOptions options;
  options.index_file = config.data.index.value;
  const std::unique_ptr<Source> source =
      open_source(config.data.source.value, config.data.paths.value, std::move(options), {});
  const std::unique_ptr<SampleReader> reader = source->make_reader();
  SeenImages seen;
  if (!reader) return seen;
  const std::int64_t size = source->size();
  const auto seed = static_cast<std::uint64_t>(config.measure.seed.value);
  for (std::int64_t i = 0; i < std::min(size, kMaxDrawnImages); ++i) {
    try {
      seen.add(dataset::image_facts(reader->read(shuffled_index(i, size, seed, kImageDraw))));
    } catch (const SampleError&) {  // the run has counted it
    }
  }
  return seen;
}

}  // namespace

void add_image_facts(RunRecord& record) {
  const RunConfig& config = record.config;
  const bool is_ours = is_native_engine(record.engine) && config.has_data();
  if (!is_ours || config.makes_on_device() || is_on_server(config.data) ||
      source_traits(config.data.source.value).form != SampleForm::image)
    return;
  try {
    const SeenImages seen = seen_images(config);
    if (seen.images <= 0) return;
    record.metrics.push_back(make_metric(metric::decode_image_pixels, "of an image, on average",
                                         seen.pixels / seen.images));
    record.metrics.push_back(make_metric(metric::decode_jpeg_share,
                                         "of the images: JPEG engines decode them",
                                         seen.for_engines / seen.images));
  } catch (const Error&) {  // the run is over, and its answer does not need them
  }
}

}  // namespace loaderscope
