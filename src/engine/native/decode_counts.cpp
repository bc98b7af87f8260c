#include "engine/native/decode_counts.h"

#include <algorithm>
#include <string>

#include "dataset/jpeg_engines.h"

namespace loaderscope::native {
namespace {

constexpr std::size_t kEngineWords = dataset::kEngineRefusals.size();

std::string_view refusal_word(std::size_t index) {
  if (index < kEngineWords) return dataset::kEngineRefusals[index];
  return DecodeCounts::kOwnWords[index - kEngineWords];
}

}  // namespace

void DecodeCounts::count_cpu(std::string_view refusal) const {
  static_assert(kEngineWords + kOwnWords.size() == kMaxReasons);
  add(counts_->cpu, 1);
  if (refusal.empty()) return;
  std::size_t index = 0;
  while (index + 1 < kMaxReasons && refusal_word(index) != refusal) ++index;
  add(counts_->refused[index], 1);
}

void DecodeCounts::move_to_cuda() const {
  forget_device();
  add(counts_->cuda, 1);
}

void DecodeCounts::move_to_cpu(std::string_view refusal) const {
  forget_device();
  count_cpu(refusal);
}

std::vector<Metric> DecodeCounts::metrics() const {
  const std::int64_t device = counts_->device.load(), cuda = counts_->cuda.load(),
                     cpu = counts_->cpu.load();
  if (device + cuda + cpu == 0) return {};
  std::vector<Metric> metrics = {
      make_metric(metric::decode_by_engines, "images, warm-up included",
                  static_cast<double>(device)),
      make_metric(metric::decode_by_cuda, "images, warm-up included", static_cast<double>(cuda)),
      make_metric(metric::decode_by_cpu, "images, warm-up included", static_cast<double>(cpu))};
  for (std::size_t i = 0; i < kMaxReasons; ++i) {
    if (const std::int64_t refused = counts_->refused[i].load(); refused > 0)
      metrics.push_back(make_metric("decode.refused_" + std::string(refusal_word(i)),
                                    "of the images that the CPU decoded",
                                    static_cast<double>(refused)));
  }
  return metrics;
}

}  // namespace loaderscope::native
