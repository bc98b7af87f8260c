#include "engine/native/image_refusal.h"

#include <algorithm>

#include "dataset/image_facts.h"
#include "dataset/jpeg_engines.h"
#include "engine/native/decode_counts.h"

namespace loaderscope::native {
namespace {

constexpr std::size_t kEndBytes = 64;  // part of an image that must have its end marker

}  // namespace

std::string_view find_refusal(std::span<const std::byte> stored, std::int64_t most_pixels,
                              ImageHeader& image) {
  const dataset::ImageFacts facts = dataset::image_facts(stored);
  if (const std::string_view refusal = dataset::engine_refusal(facts); !refusal.empty())
    return refusal;
  const bool is_whole = facts.damage.empty() && !facts.more_needed &&
                        dataset::has_jpeg_end(stored.last(std::min(stored.size(), kEndBytes)));
  if (!is_whole) return DecodeCounts::kDamaged;
  if (facts.width * facts.height > most_pixels) return kTooLarge;
  image = {static_cast<int>(facts.width), static_cast<int>(facts.height)};
  return "";
}

}  // namespace loaderscope::native
