// Saved profiles of machines: one, or several that were put into a list.
#include <fstream>

#include "loaderscope/errors.h"
#include "report/describe.h"
#include "report/json_cursor.h"
#include "report/json_reader.h"
#include "report/kinds.h"
#include "report/saved.h"

namespace loaderscope::probe {
namespace {

SavedProfile parse_profile(const JsonNode& node, const std::string& place) {
  const JsonCursor document(node, place);
  document.expect_object();
  check_schema(document, "probe");
  JsonReader form(document);
  SavedProfile saved;
  describe_tool(form, saved.tool_version);
  describe_profile(form, saved.profile);
  return saved;
}

}  // namespace

std::vector<SavedProfile> parse_profiles(std::istream& input, const std::string& place) {
  const JsonNode root = read_json(input, place, {});
  std::vector<SavedProfile> profiles;
  if (root.kind != JsonNode::Kind::array) {
    profiles.push_back(parse_profile(root, place));
    return profiles;
  }
  for (const JsonNode& node : root.items) profiles.push_back(parse_profile(node, place));
  return profiles;
}

std::vector<SavedProfile> read_profiles(const std::string& path) {
  std::ifstream input(path, std::ios::binary);
  if (!input)
    throw RunError(shown_text(path) + ": cannot be opened", "look at its name and permissions");
  return parse_profiles(input, shown_text(path));
}

}  // namespace loaderscope::probe
