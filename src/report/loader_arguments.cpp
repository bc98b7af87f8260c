#include "report/loader_arguments.h"

#include <fmt/format.h>

#include <algorithm>

#include "analysis/findings/frameworks.h"
#include "report/answer/setting_words.h"

namespace loaderscope {
namespace {

constexpr std::string_view kContext = "mp-context";

// A setting as the argument of DataLoader that has its meaning.
Change as_argument(const Change& change) {
  if (change.key != "memory") return change;
  if (change.value == "pin-thread") return {"pin-memory", "true"};
  return change.value == "pageable" ? Change{"pin-memory", "false"} : change;
}

// Returns the name in DataLoader; "" if DataLoader has no such argument.
std::string find_keyword(const Change& change) {
  if (change.key == kContext) return "multiprocessing_context";
  std::string name = python_name(change.key);
  return name == change.key && name != "shuffle" ? "" : name;
}

std::string python_value(const Change& change) {
  if (change.value == "true") return "True";
  if (change.value == "false") return "False";
  return change.key == kContext ? "\"" + change.value + "\"" : change.value;
}

bool takes(const FrameworkRow& framework, std::string_view keyword) {
  return framework.names.empty() ||
         std::any_of(framework.names.begin(), framework.names.end(),
                     [&](const auto& name) { return name.first == keyword; });
}

}  // namespace

std::string LoaderArguments::text() const {
  std::string text;
  for (const auto& [name, value] : list)
    text += fmt::format("{}{}={}", text.empty() ? "" : ", ", name, value);
  return text;
}

LoaderArguments arguments_of_fix(const RunRecord& record, const Finding& fix) {
  LoaderArguments arguments;
  if (fix.is_rewrite || !fix.has_setting() || fix.to_run.empty()) {
    arguments.missing = "the Fix is no argument of a call";
    return arguments;
  }
  const FrameworkRow& framework = find_framework(record);
  for (const Change& setting : fix.to_run) {
    const Change change = as_argument(setting);
    if (change.key == "batch-size") {
      arguments.missing = "another batch size is another training";
      return arguments;
    }
    const std::string keyword = find_keyword(change);
    if (keyword.empty() || !takes(framework, keyword)) {
      arguments.missing =
          keyword.empty()
              ? fmt::format("the Fix sets {}, which is no argument of a loader", change.key)
              : fmt::format("the call of {} does not take {}", framework.row.name, keyword);
      return arguments;
    }
    arguments.list.emplace_back(argument_name(record, keyword), python_value(change));
  }
  return arguments;
}

}  // namespace loaderscope
