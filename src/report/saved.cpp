#include "report/saved.h"

#include <fstream>

#include "base/fd.h"
#include "loaderscope/errors.h"
#include "report/describe.h"
#include "report/json_reader.h"

namespace loaderscope {
namespace {

std::ifstream open_saved(const std::string& path) {
  const std::string place = shown_text(path);
  if (const std::string_view other = non_file_kind(path); !other.empty())
    throw RunError(place + ": is " + std::string(other), "give a file that --json saved");
  std::ifstream input(path, std::ios::binary);
  if (!input) throw RunError(place + ": cannot be opened", "look at its name and permissions");
  return input;
}

}  // namespace

void check_schema(const JsonCursor& document, std::string_view kind) {
  const JsonCursor schema = document.at("schema");
  const std::string ours = schema_name(kind);
  if (schema.text() == ours) return;
  const std::string_view help = find_row(kind, result_kinds()).row.help;
  const auto command = help.find('\'');
  throw RunError(
      document.place() + ": its schema is " + shown_text(schema.text()) + ", not " + ours,
      "give what " + std::string(help.substr(command, help.rfind('\'') + 1 - command)) + " saved");
}

SavedResult parse_saved(const ResultKind& kind, std::istream& input, const std::string& place) {
  const JsonNode root = read_json(input, place, {});
  const JsonCursor document(root, place);
  check_schema(document, kind.row.name);
  JsonReader form(document, kind.most);
  std::string tool_version;
  describe_tool(form, tool_version);
  return kind.read(form, tool_version);
}

SavedResult read_saved(const ResultKind& kind, const std::string& path) {
  std::ifstream input = open_saved(path);
  return parse_saved(kind, input, shown_text(path));
}

}  // namespace loaderscope
