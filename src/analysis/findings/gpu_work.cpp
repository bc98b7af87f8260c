// Findings about batches that the GPU makes.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "analysis/decoded_images.h"
#include "analysis/findings/finding_input.h"
#include "analysis/gpu_rates.h"
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

constexpr double kMinFallback = 0.05;  // share of the images
constexpr double kLeftOfAll = 0.05;    // work of the workers that is left at least
// Reasons that another encoding of the images removes.
constexpr std::array<std::string_view, 6> kEncodings = {"format", "progressive", "cmyk",
                                                        "coding", "subsampling", "scans"};

constexpr double kEnginesRest = 0.05;  // share of the time, below which they are idle
// GPUs whose chip is known to have engines that decode JPEG. Other cards are left out.
constexpr std::array<std::string_view, 7> kGpusWithEngines = {"A100", "A30", "H100", "H200",
                                                              "H800", "H20", "GH200"};

// Returns true for words such as "NVIDIA H100 80GB HBM3".
bool has_jpeg_engines(const std::optional<std::string>& gpus) {
  return gpus && std::any_of(kGpusWithEngines.begin(), kGpusWithEngines.end(),
                             [&](std::string_view card) { return names_card(*gpus, card); });
}

bool is_encoding(std::string_view reason) {
  return std::find(kEncodings.begin(), kEncodings.end(), reason) != kEncodings.end();
}

}  // namespace

double waited_for_host_decode(const FindingInput& facts) {
  const Account& account = facts.analysis.account;
  return facts.share(account.stall[Cause::decode] - account.device.decode);
}

// Workers decode images that the engines refuse. The fix is another encoding, which only the
// owner of the data can give them.
std::optional<Candidate> silent_fallback(const FindingInput& facts) {
  const DecodedImages images = decoded_images(facts.record);
  const double refused = images.refusals(), asked = images.on_device() + refused;
  double encoded = 0;
  for (const auto& [reason, count] : images.refused)
    if (is_encoding(reason)) encoded += count;
  if (asked <= 0 || encoded < kMinFallback * asked ||
      waited_for_host_decode(facts) < kMinReportedShare)
    return std::nullopt;
  Candidate candidate;
  candidate.evidence = fmt::format(
      "the GPU cannot decode {} of its images ({}), so the CPU decodes them; the trainer waits {} "
      "of the time for decoding on the CPU",
      format_percent(refused / asked), images.refusal_words(),
      format_percent(waited_for_host_decode(facts)));
  candidate.pytorch =
      "store the images as baseline JPEG: loaderscope data pack PHOTOS tar:SHARDS --encode jpeg:90";
  // The workers keep those that the GPU was not to decode. The GPU decodes the others.
  const double left = std::max(images.cpu - encoded, kLeftOfAll * encoded);
  candidate.options = {{{std::string(name_of(Stage::decode)) + ".speed",
                         real_to_text(std::round(10 * (left + encoded) / left) / 10)}}};
  return candidate;
}

double waited_for_device_decode(const FindingInput& facts) {
  return facts.share(facts.analysis.account.device.decode);
}

// A program decodes on a GPU, and not by its engines. They take baseline JPEGs, several at once.
std::optional<Candidate> engines_idle(const FindingInput& facts) {
  const double calls = facts.metric(metric::gpu_decode_calls);
  const double engines = facts.metric(metric::gpu_jpeg_share);  // 0 is left out of a record
  const bool is_seen = value_of(facts.record.metrics, metric::gpu_sampled).has_value();
  if (calls <= 0 || !is_seen || engines >= kEnginesRest ||
      !has_jpeg_engines(facts.record.machine.gpus) ||
      waited_for_device_decode(facts) < kMinReportedShare)
    return std::nullopt;
  const double per_call = facts.metric(metric::gpu_decode_images) / calls;
  const bool is_whole_batch = 2 * per_call > static_cast<double>(facts.config.loader.batch_size);
  Candidate candidate;
  candidate.evidence = fmt::format(
      "the JPEG engines of the GPU work {} of the time, and the trainer waits {} of the time for "
      "the GPU to decode, {:.0f} images per call",
      format_percent(engines), format_percent(waited_for_device_decode(facts)), per_call);
  candidate.pytorch =
      is_whole_batch
          ? "store the images as baseline JPEG: loaderscope data pack PHOTOS tar:SHARDS --encode "
            "jpeg:90"
          : "call decode_jpeg(list, device=\"cuda\") on whole batches";
  return candidate;
}

std::optional<Candidate> device_prefetch_too_shallow(const FindingInput& facts) {
  if (!facts.config.makes_on_device() || !waits_for_device(facts.analysis.account))
    return std::nullopt;
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
  if (!facts.config.makes_on_device()) return std::nullopt;
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
