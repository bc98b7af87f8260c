#include "experiment/tuner_parts.h"

#include <algorithm>

namespace loaderscope {
namespace {

bool is_predictable(const Change& change) {
  const Field* field = find_field(change.key);
  return change.key.ends_with(".speed") ||
         (field != nullptr && field->is_about(about::kPredictable));
}

}  // namespace

Changes predictable(const Changes& changes) {
  Changes result;
  std::copy_if(changes.begin(), changes.end(), std::back_inserter(result), is_predictable);
  return result;
}

std::vector<std::size_t> predictable_groups(const std::vector<Case>& cases) {
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
