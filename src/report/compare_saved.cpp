// A saved comparison, to be shown in another form.
#include <fstream>

#include "loaderscope/errors.h"
#include "report/compare_text.h"
#include "report/describe.h"
#include "report/json_tree.h"
#include "report/kinds.h"
#include "report/read_form.h"
#include "report/schemas.h"

namespace loaderscope::compare {

SavedComparison read_comparison(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) throw RunError(path + ": cannot be opened; look at its permissions");
  return parse_comparison(in, path);
}

SavedComparison parse_comparison(std::istream& in, const std::string& place) {
  const JsonNode root = read_json(in, place, {});
  const JsonCursor document(root, place);
  const JsonCursor schema = document.at("schema");
  if (schema.text() != schema_name("compare"))
    throw RunError(place + ": its schema is not " + schema_name("compare") +
                   ", which this loaderscope reads; use the one that wrote it, or compare again");
  ReadForm form(document);
  SavedComparison saved;
  describe_tool(form, saved.tool_version);
  describe_comparison(form, saved.comparison);
  return saved;
}

}  // namespace loaderscope::compare
