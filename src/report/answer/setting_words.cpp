#include "report/answer/setting_words.h"

#include <algorithm>
#include <array>

namespace loaderscope {
namespace {

constexpr std::array<std::string_view, 8> kKeywords = {
    "num-workers", "prefetch-factor",    "batch-size", "pin-memory",
    "drop-last",   "persistent-workers", "in-order",   "shuffle"};

}  // namespace

std::string python_name(std::string_view key) {
  std::string name(key);
  if (std::find(kKeywords.begin(), kKeywords.end(), key) != kKeywords.end())
    std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

std::string python_words(const Changes& changes) {
  std::string text;
  for (const Change& change : changes)
    text += (text.empty() ? "" : ", ") + python_name(change.key) + "=" + change.value;
  return text;
}

std::string_view about_by(const PastPredictions& past) {
  constexpr double kHeld = 0.2;
  const std::optional<double> bound = past.bound();
  return bound && *bound <= kHeld ? "" : "about ";
}

}  // namespace loaderscope
