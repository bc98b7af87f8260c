#include "report/loader_arguments.h"

#include <fmt/format.h>

#include <algorithm>

#include "analysis/findings/frameworks.h"
#include "report/answer/setting_words.h"
#include "settings/dataloader_arguments.h"

namespace loaderscope {
namespace {

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
    const Change change = as_dataloader_change(setting);
    if (change.key == "batch-size") {
      arguments.missing = "another batch size is another training";
      return arguments;
    }
    const std::string_view keyword = dataloader_keyword(change.key);
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
