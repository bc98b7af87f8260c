#include "report/result_path.h"

#include <algorithm>

#include "report/schemas.h"

namespace loaderscope {
namespace {

const ResultSchema* member_of(const ResultSchema& schema, const std::string& name) {
  if (schema.contains("properties")) {
    const auto found = schema["properties"].find(name);
    return found == schema["properties"].end() ? nullptr : &*found;
  }
  if (!schema.contains("propertyNames")) return nullptr;
  const auto& names = schema["propertyNames"]["enum"];
  const bool is_there = std::find(names.begin(), names.end(), name) != names.end();
  return is_there ? &schema["additionalProperties"] : nullptr;
}

// Does the same as member_of, and also finds members within lists and tables of free names.
const ResultSchema* described_member(const ResultSchema& schema, std::string name) {
  if (name.ends_with("[]")) name.resize(name.size() - 2);
  const ResultSchema* of = &schema;
  while (of->contains("items")) of = &of->at("items");
  if (const ResultSchema* member = member_of(*of, name)) return member;
  const bool has_free_names = !of->contains("propertyNames") &&
                              of->contains("additionalProperties") &&
                              of->at("additionalProperties").is_object();
  // A dot in it may be the end of the name.
  return has_free_names && name.find('.') == name.npos ? &of->at("additionalProperties") : nullptr;
}

void collect_paths(const ResultSchema& schema, const std::string& prefix,
                   std::vector<std::string>& paths) {
  const auto add = [&](const std::string& name, const ResultSchema& member) {
    const std::string path = prefix.empty() ? name : prefix + "." + name;
    if (can_be(member, "object")) {
      collect_paths(member, path, paths);
    } else if (!can_be(member, "array")) {
      paths.push_back(path);
    }
  };
  if (schema.contains("properties")) {
    for (const auto& [name, member] : schema["properties"].items()) add(name, member);
  } else if (schema.contains("propertyNames")) {
    for (const ResultSchema& name : schema["propertyNames"]["enum"])
      add(name.get<std::string>(), schema["additionalProperties"]);
  }
}

}  // namespace

const ResultSchema* schema_at(std::string_view path) {
  return resolve_path(schema_of_run(), path, member_of);
}

const ResultSchema* described_at(const ResultSchema& schema, std::string_view path) {
  return resolve_path(schema, path, [&](const ResultSchema& of, const std::string& name) {
    // Rejects unknown names at the top, because the schema allows any additional object there.
    const std::string first = name.substr(0, name.find('['));
    const bool is_known = &of != &schema || schema.at("properties").contains(first);
    return is_known ? described_member(of, name) : nullptr;
  });
}

bool can_be(const ResultSchema& schema, std::string_view type) {
  const ResultSchema& types = schema.at("type");
  return types.is_array() ? std::find(types.begin(), types.end(), type) != types.end()
                          : types == type;
}

bool is_structured(const ResultSchema& schema) {
  return can_be(schema, "object") || can_be(schema, "array");
}

std::vector<std::string> paths_of_run() {
  std::vector<std::string> paths;
  collect_paths(schema_of_run(), "", paths);
  return paths;
}

}  // namespace loaderscope
