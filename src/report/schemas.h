// The kinds of results: what stands around what is described of each, and their JSON Schemas.
#pragma once

#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <ostream>
#include <span>
#include <string>
#include <string_view>

#include "loaderscope/rows.h"
#include "report/form.h"

namespace loaderscope {

struct ResultKind {
  Row row;
  void (*explain)(Form& form);  // what can stand in it
};
std::span<const ResultKind> result_kinds();

std::string schema_name(std::string_view kind);  // loaderscope.KIND/1

// Writes the document: its schema and the version of the tool, then what `describe` shows.
void write_document(std::ostream& out, std::string_view kind, std::string_view tool_version,
                    const std::function<void(Form& form)>& describe);
template <class Result>
void write_document(std::ostream& out, std::string_view kind, std::string_view tool_version,
                    const Result& result, void (*describe)(Form& form, Result& result)) {
  // Who writes changes nothing of what is described to him.
  write_document(out, kind, tool_version,
                 [&](Form& form) { describe(form, const_cast<Result&>(result)); });
}

nlohmann::ordered_json schema_document(const ResultKind& kind);
void write_schema(std::ostream& out, const ResultKind& kind);  // reports/KIND.schema.json

}  // namespace loaderscope
