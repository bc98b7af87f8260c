// The JSON Schema of a kind of result.
#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "loaderscope/settings.h"
#include "report/describe.h"
#include "report/keys.h"
#include "report/schemas.h"

namespace loaderscope {
namespace {

using Json = nlohmann::ordered_json;

Json empty_object() {
  return {{"type", "object"},
          {"properties", Json::object()},
          {"required", Json::array()},
          {"additionalProperties", false}};
}

Json make_node(Shape shape) {
  if (shape == Shape::object) return empty_object();
  if (shape == Shape::entries) return {{"type", "object"}};
  return {{"type", "array"}};
}

void allow_null(Json& node) {
  node["type"] = Json::array({node["type"], "null"});
  if (node.contains("enum")) node["enum"].push_back(nullptr);
}

// Returns the schema of a setting, as far as it follows from its text.
Json make_node(const Field& field) {
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

class SchemaWriter : public ResultVisitor {
 public:
  SchemaWriter() : ResultVisitor(VisitMode::explain) {
    open_.push_back({"", Shape::object, empty_object(), {}});
  }

  void text(Name name, std::string&, Sentence sentence) override {
    add(name, "string", sentence, Json::object());
  }

  void word(Name name, std::string&, const std::vector<std::string_view>& words,
            Sentence sentence) override {
    add(name, "string", sentence, {{"enum", words}});
  }

  void flag(Name name, bool&, Sentence sentence) override {
    add(name, "boolean", sentence, Json::object());
  }

  void whole(Name name, std::int64_t&, Sentence sentence, IntegerRange within) override {
    Json bounds = Json::object();
    if (within.least != kAnyTime.least) bounds["minimum"] = within.least;
    if (within.most < IntegerRange::kMax) bounds["maximum"] = within.most;
    add(name, "integer", sentence, std::move(bounds));
  }

  void real(Name name, double&, Sentence sentence, RealRange within) override {
    Json bounds = Json::object();
    if (std::isfinite(within.least)) bounds["minimum"] = within.least;
    if (std::isfinite(within.most)) bounds["maximum"] = within.most;
    add(name, "number", sentence, std::move(bounds));
  }

  void seconds(Name name, Nanos&, Sentence sentence, IntegerRange within) override {
    Json bounds = Json::object();
    if (within.least != kAnyTime.least) bounds["minimum"] = within.least;
    add(name, "number", sentence, std::move(bounds));
  }

  void settings(RunConfig&) override {
    Json config = empty_object();
    config["description"] = keys::kConfigSentence;
    for (const Field& field : fields())
      config["properties"][keys::field_key(field.name)] = make_node(field);
    config["additionalProperties"] = true;  // members of an older or newer version
    config.erase("required");
    add("config", std::move(config), {});
    add("config_given",
        {{"type", "array"},
         {"description", keys::kConfigGivenSentence},
         {"items", {{"type", "string"}}},
         {"uniqueItems", true}},
        {});
  }
  using ResultVisitor::whole;
  using ResultVisitor::word;

  // Returns the schema of the described object. Groups of metrics may be next to its members.
  Json take() { return std::move(open_.front().node); }

 protected:
  void enter(Name name, Shape shape, Sentence sentence, Lines) override {
    Json node = make_node(shape);
    if (!sentence.empty()) node["description"] = sentence;
    open_.push_back(
        {std::string(name), shape, std::move(node), std::exchange(missing_, std::nullopt)});
  }

  void may_be_empty() override { open_.back().node.erase("required"); }

  void leave() override {
    Level level = std::move(open_.back());
    open_.pop_back();
    if (level.shape == Shape::row) {
      const std::size_t places = level.node["prefixItems"].size();
      level.node["minItems"] = level.node["maxItems"] = places;
    }
    add(level.name, std::move(level.node), level.missing);
  }

  bool begins(Name, bool, AbsentValue missing) override {
    missing_ = missing;
    return true;
  }

  void keys(const std::vector<std::string_view>& words) override {
    if (!words.empty()) open_.back().node["propertyNames"] = {{"enum", words}};
  }

 private:
  struct Level {
    std::string name;
    Shape shape;
    Json node;
    std::optional<AbsentValue> missing;
  };

  void add(Name name, Json node, std::optional<AbsentValue> missing) {
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

  void add(Name name, const char* type, Sentence sentence, Json more) {
    Json node = {{"type", type}};
    if (!sentence.empty()) node["description"] = sentence;
    node.update(more);
    add(name, std::move(node), std::exchange(missing_, std::nullopt));
  }

  std::vector<Level> open_;
  std::optional<AbsentValue> missing_;  // form of the next value if it is absent
};

Json schema_document(const ResultKind& kind) {
  const std::string name = schema_name(kind.row.name);
  SchemaWriter form;
  std::string version;
  describe_tool(form, version);
  kind.explain(form);
  const Json body = form.take();
  Json document = {{"$schema", "https://json-schema.org/draft/2020-12/schema"},
                   {"title", name},
                   {"description", kind.row.help}};
  document.update(body);
  document["properties"] = {{"schema", {{"type", "string"}, {"const", name}}}};
  document["properties"].update(body["properties"]);
  document["required"].insert(document["required"].begin(), "schema");
  if (!kind.others.empty())
    document["additionalProperties"] = {{"type", "object"},
                                        {"description", kind.others},
                                        {"additionalProperties", {{"type", {"number", "null"}}}}};
  return document;
}

}  // namespace

void write_schema(std::ostream& out, const ResultKind& kind) {
  out << schema_document(kind).dump(2) << "\n";
}

}  // namespace loaderscope
