#include "analysis/gpu_rates.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>

#include "analysis/machine_ceilings.h"
#include "analysis/wording.h"

namespace loaderscope {
namespace {

// Pixels of a stored byte of a photograph: images of 500 x 375 had 110 kB.
constexpr double kPixelsOfByte = 1.7;
constexpr double kMega = 1e6;

struct ImageSize {
  double pixels = 0;  // 0 if unknown
  double bytes = 0;   // stored; 0 if unknown
  bool is_assumed = false;
};

ImageSize image_size(const RunRecord& record) {
  double bytes = 0, samples = 0;
  for (const RankRecord& rank : record.ranks) {
    bytes += static_cast<double>(rank.read_bytes);
    samples += static_cast<double>(rank.samples);
  }
  ImageSize size;
  if (samples > 0) size.bytes = std::max(0.0, bytes / samples);
  size.pixels = std::max(0.0, value_of(record.metrics, metric::decode_image_pixels).value_or(0));
  if (size.pixels > 0) return size;
  size.pixels = kPixelsOfByte * size.bytes;
  size.is_assumed = true;
  return size;
}

std::string size_words(const ImageSize& size) {
  return fmt::format("{:.2f} MP", size.pixels / kMega);
}

std::string assumption_words(const ImageSize& size) {
  return size.is_assumed ? fmt::format("an image is taken to have {} pixels for each stored byte",
                                       kPixelsOfByte)
                         : "";
}

// Decoding times that nvJPEG's engines had in short tests, for images of 500 x 375.
struct GpuPreset {
  std::string_view card;
  double decode_s;
};
constexpr std::array kGpuPresets = {GpuPreset{"H100", 45e-6}, GpuPreset{"H200", 31e-6}};
constexpr double kPresetPixels = 500.0 * 375.0;
constexpr double kPresetError = 0.4;

const GpuPreset* find_preset(const RunRecord& record) {
  const std::string gpus = record.machine.gpus.value_or("");
  const auto found = std::find_if(kGpuPresets.begin(), kGpuPresets.end(),
                                  [&](const GpuPreset& one) { return names_card(gpus, one.card); });
  return found == kGpuPresets.end() ? nullptr : &*found;
}

double decode_time(const ProbedRates& probed, const ImageSize& size) {
  if (probed.gpu_decode_pixels_per_s <= 0 || size.pixels <= 0) return 0;
  const double alone = probed.gpu_decode_image_s + size.pixels / probed.gpu_decode_pixels_per_s;
  const double link = probed.link_bytes_per_s > 0 ? size.bytes / probed.link_bytes_per_s : 0;
  return std::max(alone, link);
}

std::optional<TakenShare> taken_share(double products, double copies) {
  if (products <= 0 && copies <= 0) return std::nullopt;
  const auto [least, most] = std::minmax({products, copies});
  return TakenShare{std::min(least, 1.0), std::min(most, 1.0)};
}

constexpr const char* kProbeSource = ", by probe of this GPU";

// "21,900 images/s"
std::string rate_words(double seconds_each) {
  const double rate = 1 / seconds_each;
  const double unit = std::pow(10, std::floor(std::log10(rate)) - 2);
  return format_rate(std::round(rate / unit) * unit) + " images/s";
}

}  // namespace

bool names_card(std::string_view gpus, std::string_view card) {
  const auto is_letter = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; };
  for (std::size_t at = gpus.find(card); at != gpus.npos; at = gpus.find(card, at + 1)) {
    const std::size_t end = at + card.size();
    const bool begins = at == 0 || !is_letter(gpus[at - 1]);
    if (begins && (end == gpus.size() || !is_letter(gpus[end]))) return true;
  }
  return false;
}

double probed_decode_s(const RunRecord& record) {
  return decode_time(probed_rates(record), image_size(record));
}

GpuRates gpu_rates(const RunRecord& record) {
  const ProbedRates probed = probed_rates(record);
  const ImageSize size = image_size(record);
  GpuRates rates;
  rates.decode_cpu_s = probed.gpu_decode_cpu_s;
  rates.augment_s = probed.gpu_augment_sample_s;
  rates.decode_taken = taken_share(probed.gpu_decode_taken, probed.gpu_decode_taken_of_copies);
  rates.augment_taken = taken_share(probed.gpu_augment_taken, probed.gpu_augment_taken_of_copies);
  if (rates.augment_s > 0) rates.augment_basis = rate_words(rates.augment_s) + kProbeSource;
  rates.decode_s = decode_time(probed, size);
  rates.assumption = assumption_words(size);
  if (rates.decode_s > 0) {
    rates.decode_basis =
        fmt::format("{} of {}{}", rate_words(rates.decode_s), size_words(size), kProbeSource);
    return rates;
  }
  const GpuPreset* preset = find_preset(record);
  if (preset == nullptr || size.pixels <= 0) return rates;
  rates.decode_s = preset->decode_s * size.pixels / kPresetPixels;
  rates.decode_error = kPresetError;
  rates.decode_basis =
      fmt::format("{} of {} ±{:.0f} %, by short tests of another {}", rate_words(rates.decode_s),
                  size_words(size), 100 * kPresetError, preset->card);
  return rates;
}

}  // namespace loaderscope
