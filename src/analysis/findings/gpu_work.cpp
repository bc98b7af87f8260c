// Findings about batches that the GPU makes.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "analysis/findings/finding_input.h"
#include "analysis/totals.h"
#include "analysis/wording.h"

namespace loaderscope {
namespace {

// Values of `decode` that give images to the workers, most of them first: what workers decode takes
// nothing from the training.
constexpr std::array<std::string_view, 7> kDecodePlaces = {
    "cpu", "split:0.1", "split:0.3", "split:0.5", "split:0.7", "split:0.8", "split:0.9"};

bool is_time_known(const FindingInput& facts, Stage stage) {
  return facts.config.declared_cost(stage) != nullptr;
}

std::string without_pause(const char* works, double share) {
  return fmt::format("the GPU {} without a pause, and the trainer waits {} of the time for it",
                     works, format_percent(share));
}

}  // namespace

std::optional<Candidate> device_prefetch_too_shallow(const FindingInput& facts) {
  if (!waits_for_device(facts.analysis.account)) return std::nullopt;
  const double shallow = facts.share(Why::depth) + facts.share(Why::latency);
  if (shallow < kMinReportedShare) return std::nullopt;
  const std::int64_t depth = facts.config.trainer.device_prefetch;
  Candidate candidate;
  candidate.evidence = fmt::format(
      "with device-prefetch={} the device has no room for more batches, and is late {} of the time",
      depth, format_percent(shallow));
  candidate.ranges = {{"device-prefetch", depth, kMaxDepth}};
  candidate.pytorch = "make {} batches ahead on the device (DALI: prefetch_queue_depth)";
  candidate.advice = {{"device-prefetch", candidate.pytorch, true}};
  candidate.direction = {number("device-prefetch", std::min(2 * depth, kMaxDepth))};
  return candidate;
}

double waited_for_gpu(const FindingInput& facts) {
  return facts.share(facts.analysis.account.device.stall());
}

std::optional<Candidate> cpu_would_do(const FindingInput& facts) {
  const DeviceProduction& device = facts.analysis.account.device;
  Candidate candidate;
  if (facts.config.image.decode.value.on_device()) {
    if (facts.share(device.decode) < kMinReportedShare) return std::nullopt;
    candidate.evidence = without_pause("decodes", facts.share(device.decode));
    candidate.pytorch = "decode images in the workers (DALI: a smaller hw_decoder_load)";
    candidate.advice = {{"decode", candidate.pytorch, true}};
    if (is_time_known(facts, Stage::decode))
      for (const std::string_view place : kDecodePlaces)
        candidate.options.push_back({{"decode", std::string(place)}});
    return candidate;
  }
  if (facts.share(device.augment) < kMinReportedShare) return std::nullopt;
  candidate.evidence = without_pause("augments", facts.share(device.augment));
  candidate.pytorch = "augment in the workers";
  candidate.advice = {{"augment-on", candidate.pytorch, true}};
  if (is_time_known(facts, Stage::augment)) candidate.options = {{{"augment-on", "host"}}};
  return candidate;
}

}  // namespace loaderscope
