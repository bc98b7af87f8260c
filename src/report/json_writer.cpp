#include "report/json_writer.h"

#include "loaderscope/settings.h"
#include "report/keys.h"

namespace loaderscope {
namespace {

// A setting without a value is null.
void write_setting(JsonStream& json, const Field& field, const RunConfig& config) {
  const std::string key = keys::field_key(field.name);
  if (field.repeats) {
    json.begin_array(key, kCompact);
    for (const std::string& text : field.texts(config)) json.element(std::string_view(text));
    return json.end_array();
  }
  const std::string text = field.text(config);
  if (text.empty()) return json.null(key);
  if (field.is_switch()) return json.member(key, text == "true");
  if (field.is_number) return json.number(key, text);
  json.member(key, std::string_view(text));
}

}  // namespace

void JsonWriter::settings(RunConfig& config) {
  json_.begin_object("config");
  for (const Field& field : fields()) write_setting(json_, field, config);
  json_.end_object();
  json_.begin_array("config_given", kCompact);
  for (const Field& field : fields()) {
    if (field.given(config)) json_.element(std::string_view(keys::field_key(field.name)));
  }
  json_.end_array();
}

void JsonWriter::enter(Name name, Shape shape, Sentence, Lines lines) {
  const auto layout = lines == Lines::one ? kCompact : JsonStream::Layout::lines;
  if (shape == Shape::list || shape == Shape::row) {
    json_.begin_array(name, layout);
  } else {
    json_.begin_object(name, layout);
  }
  open_.push_back(shape);
}

void JsonWriter::leave() {
  const Shape shape = open_.back();
  open_.pop_back();
  if (shape == Shape::list || shape == Shape::row) return json_.end_array();
  json_.end_object();
}

bool JsonWriter::begins(Name name, bool there, AbsentValue missing) {
  if (!there && missing == AbsentValue::null) json_.null(name);
  return there;
}

}  // namespace loaderscope
