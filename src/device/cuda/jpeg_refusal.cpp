#include "device/cuda/jpeg_refusal.h"

#include <algorithm>

namespace loaderscope::cuda {
namespace {

constexpr unsigned kMinEngineSide = 16, kMaxEngineSide = 16'384;

bool is_known(nvjpeg::Subsampling subsampling, nvjpeg::Backend backend) {
  switch (subsampling) {
    case nvjpeg::Subsampling::s444:
    case nvjpeg::Subsampling::s422:
    case nvjpeg::Subsampling::s420:
    case nvjpeg::Subsampling::s440:
    case nvjpeg::Subsampling::grey:
      return true;
    case nvjpeg::Subsampling::s411:
    case nvjpeg::Subsampling::s410:
    case nvjpeg::Subsampling::s410v:
      return !nvjpeg::uses_engines(backend);
    case nvjpeg::Subsampling::unknown:
      return false;
  }
  return false;
}

}  // namespace

std::string_view find_refusal(const JpegFacts& facts, nvjpeg::Backend backend) {
  const bool is_progressive = facts.encoding == nvjpeg::Encoding::progressive;
  if (is_progressive && backend != nvjpeg::Backend::gpu_hybrid) return "progressive";
  if (facts.components == 4) return "cmyk";
  if (facts.encoding != nvjpeg::Encoding::baseline && !is_progressive) return "coding";
  if (!is_known(facts.subsampling, backend)) return "subsampling";
  if (!nvjpeg::uses_engines(backend)) return "";
  if (std::min(facts.width, facts.height) < kMinEngineSide) return "small";
  return std::max(facts.width, facts.height) > kMaxEngineSide ? "large" : "";
}

bool has_restarts(std::span<const std::byte> stored) {
  constexpr std::byte kPrefix{0xff}, kRestartInterval{0xdd}, kScan{0xda};
  const auto word = [&](std::size_t at) {
    return std::to_integer<std::size_t>(stored[at]) << 8 |
           std::to_integer<std::size_t>(stored[at + 1]);
  };
  constexpr std::size_t kStart = 2;    // bytes of the marker at the start of an image
  constexpr std::size_t kSegment = 6;  // marker, length and restart interval
  for (std::size_t at = kStart; at + kSegment <= stored.size() && stored[at] == kPrefix;) {
    if (stored[at + 1] == kPrefix) {
      ++at;  // fill bytes
      continue;
    }
    if (stored[at + 1] == kScan) return false;
    if (stored[at + 1] == kRestartInterval && word(at + 4) > 0) return true;
    at += 2 + word(at + 2);
  }
  return false;
}

}  // namespace loaderscope::cuda
