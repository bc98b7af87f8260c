#include "report/answer/setting_words.h"

#include <algorithm>
#include <cctype>

#include "settings/dataloader_arguments.h"

namespace loaderscope {

namespace {

// "num_workers" of "num-workers": a keyword of DataLoader. Other names stay.
std::string python_name(std::string_view key) {
  const std::string_view keyword = dataloader_keyword(key);
  return std::string(keyword.empty() ? key : keyword);
}

}  // namespace

std::string python_value(const Change& change) {
  if (dataloader_keyword(change.key).empty()) return change.value;
  if (change.value == "true") return "True";
  if (change.value == "false") return "False";
  const bool is_number = std::all_of(change.value.begin(), change.value.end(),
                                     [](unsigned char c) { return std::isdigit(c) != 0; });
  return is_number ? change.value : "\"" + change.value + "\"";
}

std::string python_words(const Changes& changes) {
  std::string text;
  for (const Change& change : changes)
    text += (text.empty() ? "" : ", ") + python_name(change.key) + "=" + python_value(change);
  return text;
}

std::string_view about_by(const PastPredictions& past) {
  constexpr double kHeld = 0.2;
  const std::optional<double> bound = past.bound();
  return bound && *bound <= kHeld ? "" : "about ";
}

}  // namespace loaderscope
