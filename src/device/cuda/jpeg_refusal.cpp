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
      return backend != nvjpeg::Backend::hardware;
    case nvjpeg::Subsampling::unknown:
      return false;
  }
  return false;
}

}  // namespace

std::string_view find_refusal(const JpegFacts& facts, nvjpeg::Backend backend) {
  const bool is_progressive = facts.encoding == nvjpeg::Encoding::progressive;
  if (is_progressive && backend == nvjpeg::Backend::hardware) return "progressive";
  if (facts.components == 4) return "cmyk";
  if (facts.encoding != nvjpeg::Encoding::baseline && !is_progressive) return "coding";
  if (!is_known(facts.subsampling, backend)) return "subsampling";
  if (backend != nvjpeg::Backend::hardware) return "";
  if (std::min(facts.width, facts.height) < kMinEngineSide) return "small";
  return std::max(facts.width, facts.height) > kMaxEngineSide ? "large" : "";
}

}  // namespace loaderscope::cuda
