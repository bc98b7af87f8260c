#include "experiment/strata.h"

#include <algorithm>
#include <array>

namespace loaderscope {
namespace {

constexpr std::array<std::string_view, 6> kPredictable = {
    "num-workers", "prefetch-factor", "window", "in-flight", "in-order", "batch-size"};

bool is_predictable(const Change& change) {
  return change.key.ends_with(".speed") ||
         std::find(kPredictable.begin(), kPredictable.end(), change.key) != kPredictable.end();
}

}  // namespace

Changes predictable(const Changes& changes) {
  Changes result;
  std::copy_if(changes.begin(), changes.end(), std::back_inserter(result), is_predictable);
  return result;
}

std::vector<std::size_t> strata_of(const std::vector<Case>& cases) {
  std::vector<Changes> known;
  std::vector<std::size_t> strata;
  for (const Case& one : cases) {
    Changes rest;
    std::copy_if(one.changes.begin(), one.changes.end(), std::back_inserter(rest),
                 [](const Change& change) { return !is_predictable(change); });
    const auto place = std::find(known.begin(), known.end(), rest);
    strata.push_back(static_cast<std::size_t>(place - known.begin()));
    if (place == known.end()) known.push_back(std::move(rest));
  }
  return strata;
}

}  // namespace loaderscope
