// The kinds of results: what stands around what is described of each, and their JSON Schemas.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <ostream>
#include <span>
#include <string>
#include <string_view>

#include "loaderscope/report.h"

namespace loaderscope {

struct ResultKind {
  Row row;
  void (*explain)(Form& form);  // what can stand in it
  // What the objects are that stand beside its members, by names of their own; "": there are none.
  std::string_view others = "";
};
std::span<const ResultKind> result_kinds();

std::string schema_name(std::string_view kind);  // loaderscope.KIND/1

// Its schema, the version of the tool, then what is described.
void write_json(std::ostream& out, const AnyResult& result);

nlohmann::ordered_json schema_document(const ResultKind& kind);
const nlohmann::ordered_json& schema_of_run();
void write_schema(std::ostream& out, const ResultKind& kind);  // reports/KIND.schema.json

}  // namespace loaderscope
