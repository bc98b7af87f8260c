// Short summaries of saved JSON, for a reader with little room.
#include <algorithm>

#include "cli/mcp_tools.h"

namespace loaderscope::mcp {
namespace {

constexpr std::size_t kMaxFixes = 5;

// Returns the member at a path of keys; null if one of them is missing.
Json member(const Json& from, std::initializer_list<const char*> path) {
  const Json* at = &from;
  for (const char* key : path) {
    const auto found = at->is_object() ? at->find(key) : at->end();
    if (!at->is_object() || found == at->end()) return nullptr;
    at = &*found;
  }
  return *at;
}

// Members of `from` with these names.
Json members(const Json& from, std::initializer_list<const char*> names) {
  Json chosen = Json::object();
  for (const char* name : names)
    if (Json value = member(from, {name}); !value.is_null()) chosen[name] = std::move(value);
  return chosen;
}

Json list_fixes(const Json& saved) {
  Json fixes = Json::array();
  for (const Json& finding : member(saved, {"findings"})) {
    if (fixes.size() >= kMaxFixes) break;
    Json fix = members(finding, {"id", "wrong_data", "advice", "evidence", "changes"});
    fix["samples_per_s_before"] = member(finding, {"predicted", "base", "samples_per_s"});
    fix["samples_per_s_predicted"] = member(finding, {"predicted", "samples_per_s"});
    fixes.push_back(std::move(fix));
  }
  return fixes;
}

}  // namespace

Json summarise_run(const Json& saved) {
  Json summary =
      members(member(saved, {"verdict"}), {"sentence", "bound_by", "severity", "withheld_reason"});
  summary["samples_per_s"] = member(saved, {"throughput", "samples_per_s", "mean"});
  summary["busy"] = member(saved, {"device", "busy"});
  summary["fixes"] = list_fixes(saved);
  if (Json call = member(saved, {"program", "loader_call"}); !call.is_null())
    summary["loader_call"] = members(call, {"file", "line"});
  return summary;
}

Json summarise_what_if(const Json& saved) {
  Json summary = members(saved, {"changes", "gain", "why_not"});
  summary["samples_per_s_before"] = member(saved, {"measured", "samples_per_s"});
  summary["samples_per_s_predicted"] = member(saved, {"predicted", "samples_per_s"});
  return summary;
}

Json summarise_comparison(const Json& saved) {
  Json summary = members(saved, {"sentence", "verdict", "blamed"});
  Json differences = Json::array();
  for (const Json& difference : member(saved, {"differences"})) {
    Json row = members(difference, {"name", "unit", "a", "b", "verdict"});
    row["change"] = member(difference, {"change", "mean"});
    differences.push_back(std::move(row));
  }
  summary["differences"] = std::move(differences);
  return summary;
}

Json summarise_edit(const Json& saved) { return saved.is_object() ? saved : Json::object(); }

}  // namespace loaderscope::mcp
