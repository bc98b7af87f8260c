#include "dataset/jpeg_engines.h"

#include <algorithm>
#include <array>

namespace loaderscope::dataset {
namespace {

constexpr std::int64_t kMinEngineSide = 16, kMaxEngineSide = 16'384;
constexpr std::array<std::string_view, 5> kSubsamplings = {"444", "422", "420", "440", "grey"};

}  // namespace

std::string_view engine_refusal(const ImageFacts& facts) {
  if (facts.kind != Kind::jpeg) return "format";
  if (facts.progressive) return "progressive";
  if (facts.subsampling == "cmyk") return "cmyk";
  if (!facts.baseline) return "coding";
  if (std::find(kSubsamplings.begin(), kSubsamplings.end(), facts.subsampling) ==
      kSubsamplings.end())
    return "subsampling";
  if (facts.components_of_scan < facts.components) return "scans";
  if (std::min(facts.width, facts.height) < kMinEngineSide) return "small";
  return std::max(facts.width, facts.height) > kMaxEngineSide ? "large" : "";
}

}  // namespace loaderscope::dataset
