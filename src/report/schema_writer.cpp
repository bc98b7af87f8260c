#include "report/schema_writer.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "loaderscope/settings.h"
#include "report/keys.h"

namespace loaderscope {

using Json = nlohmann::ordered_json;

struct SchemaWriter::Level {
  std::string name;
  Shape shape;
  Json node;
  std::optional<AbsentValue> missing;
};

namespace {

Json empty_object() {
  return {{"type", "object"},
          {"properties", Json::object()},
          {"required", Json::array()},
          {"additionalProperties", false}};
}

Json node_of(Shape shape) {
  if (shape == Shape::object) return empty_object();
  if (shape == Shape::entries) return {{"type", "object"}};
  return {{"type", "array"}};
}

void allow_null(Json& node) {
  node["type"] = Json::array({node["type"], "null"});
  if (node.contains("enum")) node["enum"].push_back(nullptr);
}

// Returns the schema of a setting, as far as it follows from its text.
Json node_of(const Field& field) {
  Json node = {{"description", field.help}};
  if (field.repeats) {
    node["type"] = "array";
    node["items"] = {{"type", "string"}};
  } else if (field.is_switch()) {
    node["type"] = "boolean";
  } else {
    node["type"] = Json::array({field.is_number ? "number" : "string", "null"});
  }
  return node;
}

}  // namespace

SchemaWriter::SchemaWriter() : ResultVisitor(VisitMode::explain) {
  open_.push_back({"", Shape::object, empty_object(), {}});
}
SchemaWriter::~SchemaWriter() = default;

Json SchemaWriter::take() { return std::move(open_.front().node); }

void SchemaWriter::add(Name name, Json node, std::optional<AbsentValue> missing) {
  if (missing == AbsentValue::null) allow_null(node);
  Level& level = open_.back();
  switch (level.shape) {
    case Shape::object:
      level.node["properties"][std::string(name)] = std::move(node);
      if (missing != AbsentValue::left_out && level.node.contains("required"))
        level.node["required"].push_back(name);
      return;
    case Shape::list:
      level.node["items"] = std::move(node);
      return;
    case Shape::row:
      level.node["prefixItems"].push_back(std::move(node));
      return;
    case Shape::entries:
      level.node["additionalProperties"] = std::move(node);
  }
}

void SchemaWriter::add(Name name, const char* type, Sentence sentence, Json more) {
  Json node = {{"type", type}};
  if (!sentence.empty()) node["description"] = sentence;
  node.update(more);
  add(name, std::move(node), std::exchange(missing_, std::nullopt));
}

void SchemaWriter::text(Name name, std::string&, Sentence sentence) {
  add(name, "string", sentence, Json::object());
}

void SchemaWriter::word(Name name, std::string&, const std::vector<std::string_view>& words,
                        Sentence sentence) {
  add(name, "string", sentence, {{"enum", words}});
}

void SchemaWriter::flag(Name name, bool&, Sentence sentence) {
  add(name, "boolean", sentence, Json::object());
}

void SchemaWriter::whole(Name name, std::int64_t&, Sentence sentence, IntegerRange within) {
  Json bounds = Json::object();
  if (within.least != kAnyTime.least) bounds["minimum"] = within.least;
  if (within.most < IntegerRange::kMax) bounds["maximum"] = within.most;
  add(name, "integer", sentence, std::move(bounds));
}

void SchemaWriter::real(Name name, double&, Sentence sentence, RealRange within) {
  Json bounds = Json::object();
  if (std::isfinite(within.least)) bounds["minimum"] = within.least;
  if (std::isfinite(within.most)) bounds["maximum"] = within.most;
  add(name, "number", sentence, std::move(bounds));
}

void SchemaWriter::seconds(Name name, Nanos&, Sentence sentence, IntegerRange within) {
  Json bounds = Json::object();
  if (within.least != kAnyTime.least) bounds["minimum"] = within.least;
  add(name, "number", sentence, std::move(bounds));
}

void SchemaWriter::settings(RunConfig&) {
  Json config = empty_object();
  config["description"] =
      "settings in force, named as flags with _ for -; numbers as numbers, switches as booleans, "
      "repeatable ones as arrays, others as their text; null: not set";
  for (const Field& field : fields())
    config["properties"][keys::of_field(field.name)] = node_of(field);
  config["additionalProperties"] = true;  // members of an older or newer version
  config.erase("required");
  add("config", std::move(config), {});
  add("config_given",
      {{"type", "array"},
       {"description",
        "settings that the user gave; the others are defaults or follow from the machine"},
       {"items", {{"type", "string"}}},
       {"uniqueItems", true}},
      {});
}

void SchemaWriter::enter(Name name, Shape shape, Sentence sentence, Lines) {
  Json node = node_of(shape);
  if (!sentence.empty()) node["description"] = sentence;
  open_.push_back(
      {std::string(name), shape, std::move(node), std::exchange(missing_, std::nullopt)});
}

void SchemaWriter::may_be_empty() { open_.back().node.erase("required"); }

void SchemaWriter::leave() {
  Level level = std::move(open_.back());
  open_.pop_back();
  if (level.shape == Shape::row) {
    const std::size_t places = level.node["prefixItems"].size();
    level.node["minItems"] = level.node["maxItems"] = places;
  }
  add(level.name, std::move(level.node), level.missing);
}

bool SchemaWriter::begins(Name, bool, AbsentValue missing) {
  missing_ = missing;
  return true;
}

void SchemaWriter::keys(const std::vector<std::string_view>& words) {
  if (!words.empty()) open_.back().node["propertyNames"] = {{"enum", words}};
}

}  // namespace loaderscope
