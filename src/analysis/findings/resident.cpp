// A data set that fits into the memory of the GPU.
#include <fmt/format.h>

#include "analysis/findings/finding_input.h"
#include "analysis/totals.h"
#include "analysis/wording.h"

namespace loaderscope {
namespace {

constexpr double kMinWaited = 0.05;  // share of the window for work that is done once instead
constexpr Bytes kChannels = 3;

// Side of an image that is kept for samples of that size, as 256 for 224.
std::int64_t kept_side(std::int64_t size) { return size + size / 7; }

double stored_bytes(const FindingInput& facts) {
  const StageStats& reads = facts.stages[Stage::read];
  if (reads.count == 0) return 0;
  return static_cast<double>(reads.bytes) / static_cast<double>(reads.count) *
         static_cast<double>(facts.config.data.samples.value);
}

double decoded_bytes(const FindingInput& facts) {
  const std::int64_t side = kept_side(facts.config.image.size);
  return static_cast<double>(kChannels * side * side) *
         static_cast<double>(facts.config.data.samples.value);
}

}  // namespace

double waited_for_samples_and_copies(const FindingInput& facts) {
  return facts.share(Cause::read) + facts.share(Cause::h2d) + facts.share(Cause::decode);
}

// The GPU already makes the batches, so the times of its work are known.
std::optional<Candidate> gpu_resident_fits(const FindingInput& facts) {
  const RunConfig& config = facts.config;
  const double limit = facts.metric(metric::gpu_memory_free_bytes) / 2;
  if (!config.makes_on_device() || config.image.resident.value.holds_data() ||
      config.data.samples == 0 || limit <= 0 || waited_for_samples_and_copies(facts) < kMinWaited)
    return std::nullopt;
  const bool decodes = config.image.decode.value.on_device();
  const double stored = stored_bytes(facts), decoded = decoded_bytes(facts);
  Candidate candidate;
  if (decodes && stored > 0 && stored <= limit) candidate.options = {{{"resident", "stored"}}};
  if (decoded <= limit) {
    Changes changes = {{"resident", "decoded"}};
    if (decodes) changes.push_back({"decode", "cpu"});
    candidate.options.push_back(std::move(changes));
  }
  if (candidate.options.empty()) return std::nullopt;
  candidate.evidence = fmt::format(
      "the data set takes {} as it is stored and {} as images of {} pixels, half of the free GPU "
      "memory is {}, and the trainer waits {} of the time for reads, copies and decoding",
      format_size(stored), format_size(decoded), kept_side(config.image.size), format_size(limit),
      format_percent(waited_for_samples_and_copies(facts)));
  candidate.pytorch = "load the data set into GPU memory once, and crop there";
  candidate.advice = {{"resident", candidate.pytorch, true}};
  return candidate;
}

}  // namespace loaderscope
