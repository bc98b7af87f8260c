// Work of the GPU for the loader: who decoded the images, and what it takes from the training.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "analysis/decoded_images.h"
#include "analysis/totals.h"
#include "analysis/wording.h"
#include "report/table_parts.h"

namespace loaderscope {
namespace {

constexpr double kMinTaken = 0.001;  // share of a compute; less is not worth a word

Nanos mean_wall(const StageStats& stage) {
  return std::llround(static_cast<double>(stage.wall) / static_cast<double>(stage.count));
}

// ns by which a simulated compute is longer than declared; 0 if its length is not known.
Nanos taken_from_compute(const RunRecord& record, const StageStats& compute) {
  const Compute& declared = record.config.trainer.compute;
  const bool is_constant = declared.shape == Distribution::Shape::constant;
  if (!record.simulated || !is_constant || compute.count == 0) return 0;
  return std::max<Nanos>(0, mean_wall(compute) - record.config.mean_compute_time());
}

}  // namespace

std::string device_work_line(const RunRecord& record, const Analysis& analysis) {
  const PerStage<StageStats> stages = job_stages(record);
  std::vector<std::string> parts;
  for (const auto& [stage, word] :
       {std::pair{Stage::gpu_decode, "decode"}, std::pair{Stage::gpu_augment, "augment"}})
    if (stages[stage].count > 0)
      parts.push_back(fmt::format("{} {}", word, format_duration(mean_wall(stages[stage]))));
  if (parts.empty()) return "";
  std::string line = fmt::format("GPU work per step: {}", fmt::join(parts, ", "));
  const std::int64_t steps = record.ranks.front().steps();
  if (const Nanos shared = analysis.account.device.shared; shared > 0 && steps > 0)
    line += fmt::format("; {} of it during compute", format_duration(shared / steps));
  const StageStats& compute = stages[Stage::compute];
  const Nanos taken = taken_from_compute(record, compute);
  if (static_cast<double>(taken) > kMinTaken * static_cast<double>(mean_wall(compute)))
    line += fmt::format(", which makes that {} longer", format_duration(taken));
  return line;
}

std::string decoding_line(const RunRecord& record) {
  const DecodedImages images = decoded_images(record);
  if (images.all() <= 0) return "";
  const auto share = [&](double part) { return format_percent(part / images.all()); };
  std::vector<std::string> parts;
  if (images.engines > 0)
    parts.push_back((record.simulated ? "simulated GPU " : "JPEG engines ") +
                    share(images.engines));
  if (images.cuda > 0) parts.push_back("CUDA kernels " + share(images.cuda));
  if (images.cpu > 0) parts.push_back("CPU " + share(images.cpu));
  if (!images.refused.empty()) parts.back() += fmt::format(" ({})", images.refusal_words());
  // A simulated GPU decodes nothing.
  const char* const verb = record.simulated ? "given to" : "decoded by";
  return fmt::format("Images {}: {}", verb, fmt::join(parts, ", "));
}

}  // namespace loaderscope
