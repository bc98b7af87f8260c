// Paths in results, such as account.stall_s.read, their values and their descriptions.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "report/flat_walk.h"
#include "report/schemas.h"

namespace loaderscope {

struct ResultPath {
  std::string path;      // "findings[].id"; "changes.*" for keys that are data
  std::string type;      // JSON types of the value: "number or null"
  std::string sentence;  // description

  bool can_be(std::string_view json_type) const { return type.find(json_type) != type.npos; }
  bool is_single_value() const { return !can_be("object") && !can_be("array"); }
  bool is_fixed() const { return path.find_first_of("[*") == path.npos; }  // the same in each run
};

// Returns the path, also within lists and under names that depend on the result. A path to an
// element may be findings[].id, findings[0].id or findings.id.
std::optional<ResultPath> described_at(const ResultKind& kind, std::string_view path);

// Returns the path in a run. Null if the path does not exist, or if it depends on the run: queues,
// metrics, elements of lists, and the times before the first ask.
const ResultPath* find_path_of_run(std::string_view path);

// Returns the names of the members of a run.
std::vector<std::string_view> members_of_run();

// Returns the paths of single values that do not depend on the run.
std::vector<std::string> paths_of_run();

struct ResultValue {
  FlatValue::Type type;
  std::string text;  // text in JSON, without quotes
  double number = 0;

  bool is_number() const { return type >= FlatValue::Type::whole; }
};

// Returns the single value at the path. It is never an element of a list.
std::optional<ResultValue> value_at(const AnyResult& result, std::string_view path);

}  // namespace loaderscope
