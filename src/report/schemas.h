// The kinds of results: what stands around what is described of each, and their JSON Schemas.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <ostream>
#include <span>
#include <string>
#include <string_view>

#include "loaderscope/report.h"
#include "report/result_visitor.h"

namespace loaderscope {

struct SavedResult;  // src/report/saved.h

struct ResultKind {
  Row row;  // whose sentence has the command that saves one between quotes
  void (*explain)(ResultVisitor& form);  // what can stand in it
  // What was saved; null of a run, see read_result().
  SavedResult (*read)(ResultVisitor& form, const std::string& tool_version) = nullptr;
  std::int64_t most = IntegerRange::kMax;  // of numbers that are read, so that their sums fit
  std::string_view rows = {};              // the list that is a line each in CSV; "": there is none
  struct Tests {
    std::string_view list, flag;  // whether one of them passed
  } tests = {};                   // what a CI counts
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
