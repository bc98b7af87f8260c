// Kinds of results: the members around each described result, and their JSON Schemas.
#pragma once

#include <ostream>
#include <span>
#include <string>
#include <string_view>

#include "loaderscope/report.h"
#include "report/result_visitor.h"

namespace loaderscope {

struct SavedResult;  // src/report/saved.h
struct JUnitSuite;   // src/report/writers.h
class MarkdownPage;  // src/report/markup.h

// Writers of one kind, for forms of report_table(). Null: the kind uses the writer of all kinds,
// or has no such form.
struct OwnWriters {
  using Write = void (*)(std::ostream& out, const AnyResult& result);

  Write csv = nullptr, perfetto = nullptr, chrome = nullptr, annotations = nullptr;
  void (*markdown)(MarkdownPage& page, const AnyResult& result) = nullptr;
  JUnitSuite (*tests)(const AnyResult& result) = nullptr;
  // Returns a section of a page about what is not in the text.
  std::string (*circumstances)(const AnyResult& result) = nullptr;
  // Returns the result without what is long.
  AnyResult (*shortened)(const AnyResult& result) = nullptr;
};

struct ResultKind {
  Row row;  // row whose sentence has the command that saves a result between quotes
  void (*explain)(ResultVisitor& form);  // describes all possible members
  // Reads a saved result. Null for a run, see read_result().
  SavedResult (*read)(ResultVisitor& form, const std::string& tool_version) = nullptr;
  std::int64_t most = IntegerRange::kMax;  // limit of numbers that are read, so that their sums fit
  std::string_view rows = {};              // the list that is a line each in CSV; "": there is none
  struct Tests {
    std::string_view list, flag;  // list, and the flag for an element that passed
  } tests = {};                   // tests for a CI
  // Description of objects next to its members that have names of their own; "" if there are none.
  std::string_view others = "";
  OwnWriters own = {};
};
std::span<const ResultKind> result_kinds();

std::string schema_name(std::string_view kind);  // loaderscope.KIND/1

// Writes the schema, the version of the tool, then the described members.
void write_json(std::ostream& out, const AnyResult& result);

void write_schema(std::ostream& out, const ResultKind& kind);  // reports/KIND.schema.json

}  // namespace loaderscope
