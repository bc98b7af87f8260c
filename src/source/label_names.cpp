#include "source/label_names.h"

#include <algorithm>
#include <charconv>

namespace loaderscope::source {
namespace {

bool parse_whole(std::string_view text, std::int32_t& value) {
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  return error == std::errc() && stop == end && value >= 0;
}

}  // namespace

std::int32_t LabelNames::add(std::string_view spelling) {
  auto found = known_.find(spelling);
  if (found == known_.end()) {
    found = known_.emplace(std::string(spelling), static_cast<std::uint32_t>(known_.size())).first;
  }
  return static_cast<std::int32_t>(found->second);
}

std::vector<std::int32_t> LabelNames::labels() const {
  std::vector<std::int32_t> result(known_.size());
  const bool all_numbers = std::all_of(known_.begin(), known_.end(), [&](const auto& entry) {
    return parse_whole(entry.first, result[entry.second]);
  });
  if (all_numbers) return result;
  std::vector<std::pair<std::string_view, std::uint32_t>> sorted(known_.begin(), known_.end());
  std::sort(sorted.begin(), sorted.end());
  std::int32_t place = 0;
  for (const auto& [spelling, number] : sorted) result[number] = place++;
  return result;
}

}  // namespace loaderscope::source
