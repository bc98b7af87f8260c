// Paths of a run's result, such as account.stall_s.read, and what its schema says of them.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace loaderscope {

using ResultSchema = nlohmann::ordered_json;

// Names may contain dots themselves ("stages.read.decompress.wall_s"), so every split is tried.
// `member(value, name)` is null for a missing member.
template <class Json, class Member>
const Json* resolve_path(const Json& value, std::string_view path, const Member& member) {
  for (auto dot = path.size(); dot != path.npos && dot > 0; dot = path.rfind('.', dot - 1)) {
    const Json* found = member(value, std::string(path.substr(0, dot)));
    if (found == nullptr) continue;
    if (dot == path.size()) return found;
    if (const Json* inner = resolve_path(*found, path.substr(dot + 1), member)) return inner;
  }
  return nullptr;
}

// Returns the schema at the path. Null if the path does not exist, or if it depends on the run:
// queues, metrics, and the times before the first ask.
const ResultSchema* schema_at(std::string_view path);

// Returns the schema also within lists, such as findings[].evidence, and under names that depend on
// the result. `schema` may be any kind of result.
const ResultSchema* described_at(const ResultSchema& schema, std::string_view path);

bool can_be(const ResultSchema& schema, std::string_view type);
bool is_structured(const ResultSchema& schema);

// Returns the paths of single values that the schema contains.
std::vector<std::string> paths_of_run();

}  // namespace loaderscope
