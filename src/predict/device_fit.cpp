#include "predict/device_fit.h"

#include <cmath>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "analysis/decoded_images.h"
#include "loaderscope/cost.h"
#include "loaderscope/units.h"
#include "record/family_traits.h"

namespace loaderscope {
namespace {

// Share of the samples that the device decoded. Empty if no image was counted.
std::optional<double> decoded_share(const RunRecord& record) {
  const DecodedImages images = decoded_images(record);
  return images.all() > 0 ? std::optional(images.on_device() / images.all()) : std::nullopt;
}

void declare_mean(RunConfig& config, Stage stage, Nanos wall, double samples) {
  if (samples <= 0 || wall <= 0 || config.declared_cost(stage) != nullptr) return;
  std::vector<Cost> costs = config.declared.cost.value;
  costs.push_back(parse_cost(std::string(name_of(stage)) + "=" +
                             duration_to_text(std::llround(static_cast<double>(wall) / samples))));
  config.declared.cost.set(std::move(costs));
}

}  // namespace

RunConfig declare_device_work(const RunRecord& record) {
  RunConfig config = record.config;
  const std::optional<double> share = decoded_share(record);
  if (share && config.image.decode.value.on_device()) config.image.decode.value.share = *share;
  const bool is_real = device_kind(config.trainer.device.value) == DeviceKind::gpu;
  if (!config.makes_on_device() || !is_real) return config;
  Nanos decode = 0, augment = 0;
  double samples = 0;
  for (const RankRecord& rank : record.ranks) {
    decode += rank.stages[Stage::gpu_decode].wall;
    augment += rank.stages[Stage::gpu_augment].wall;
    samples += static_cast<double>(rank.samples);
  }
  declare_mean(config, Stage::gpu_decode, decode, samples * share.value_or(1));
  declare_mean(config, Stage::gpu_augment, augment, samples);
  return config;
}

}  // namespace loaderscope
