#include "report/json_reader.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/old_words.h"
#include "loaderscope/errors.h"
#include "loaderscope/settings.h"
#include "report/keys.h"

namespace loaderscope {
namespace {

constexpr double kRounding = 1e-9;                       // error of a sum of shares
constexpr std::size_t kMaxItems = std::size_t{1} << 20;  // limit of a list in memory

bool is_among(const std::vector<std::string_view>& words, std::string_view text) {
  return std::find(words.begin(), words.end(), text) != words.end();
}

// The text of a setting as a flag would have it.
std::string setting_text(const JsonCursor& json) {
  switch (json.node().kind) {
    case JsonNode::Kind::text:
      return json.text();
    case JsonNode::Kind::boolean:
      return json.boolean() ? "true" : "false";
    case JsonNode::Kind::integer:
      return std::to_string(json.node().integer);
    case JsonNode::Kind::real:
      return fmt::format("{}", json.node().real);
    default:
      json.fail("is no value of a setting");
  }
}

void set_from(const JsonCursor& json, std::string_view field, RunConfig& config) {
  try {
    set_field(config, json.place() + ": config", field, setting_text(json));
  } catch (const UsageError& error) {
    throw RunError(error.what());
  }
}

void read_setting(const JsonCursor& value, const Field& field, RunConfig& config) {
  if (value.is_null()) return;
  if (!field.repeats) return set_from(value, field.name, config);
  value.expect_array();
  for (std::size_t i = 0; i < value.size(); ++i) set_from(value.item(i), field.name, config);
}

// Counts that sums divide by and that memory is taken for: a file may say anything.
struct CountOfConfig {
  const char* key;
  std::int64_t most;
  std::int64_t (*value)(const RunConfig& config);
};
constexpr CountOfConfig kAtLeastOne[] = {
    {"batch_size", std::int64_t{1} << 31,
     [](const RunConfig& c) { return c.loader.batch_size.value; }},
    {"ranks", std::int64_t{1} << 24, [](const RunConfig& c) { return c.trainer.ranks.value; }},
    {"in_flight", std::int64_t{1} << 31,
     [](const RunConfig& c) { return c.trainer.in_flight.value; }},
};

void refuse_absurd_counts(const JsonCursor& values, const RunConfig& config) {
  for (const CountOfConfig& count : kAtLeastOne) {
    const std::int64_t value = count.value(config);
    if (value < 1 || value > count.most)
      (values.has(count.key) ? values.at(count.key) : values)
          .fail(fmt::format("is {}; expected 1 to {}", value, count.most));
  }
}

}  // namespace

JsonCursor JsonReader::take(Name name) {
  Level& level = open_.back();
  if (open_.size() == 1 && root_ == Root::value) return level.json;
  if (level.shape == Shape::object) return level.json.at(name);
  if (level.next >= level.json.size())
    level.json.fail(fmt::format("has {} elements instead of more", level.json.size()));
  return level.json.item(level.next++);
}

void JsonReader::text(Name name, std::string& value, Sentence) { value = take(name).text(); }

void JsonReader::word(Name name, std::string& value, const std::vector<std::string_view>& words,
                      Sentence) {
  const JsonCursor json = take(name);
  value = json.text();
  if (!is_among(words, value)) json.fail(fmt::format("is none of {}", fmt::join(words, ", ")));
}

void JsonReader::flag(Name name, bool& value, Sentence) { value = take(name).boolean(); }

void JsonReader::whole(Name name, std::int64_t& value, Sentence, IntegerRange within) {
  const bool is_moment = within.most == kAnyTime.most;
  value = take(name).integer(within.least, is_moment ? within.most : std::min(within.most, most_));
}

void JsonReader::real(Name name, double& value, Sentence, RealRange within) {
  const JsonCursor json = take(name);
  value = json.real();
  if (value < within.least - kRounding) json.fail(fmt::format("is less than {}", within.least));
  if (value > within.most + kRounding) json.fail(fmt::format("is more than {}", within.most));
}

void JsonReader::seconds(Name name, Nanos& value, Sentence, IntegerRange within) {
  value = take(name).seconds(within.least, std::min(within.most, most_));
}

void JsonReader::settings(RunConfig& config) {
  const JsonCursor& document = open_.back().json;
  const JsonCursor values = document.at("config");
  values.expect_object();
  const JsonCursor list = document.at("config_given");
  list.expect_array();
  std::vector<std::string_view> given;
  for (std::size_t i = 0; i < list.size(); ++i) given.push_back(list.item(i).text());
  for (const Field& field : fields()) {
    std::string key = keys::field_key(field.name);
    const std::string old_key = keys::field_key(field.old_name);
    if (!values.has(key) && !old_key.empty() && values.has(old_key)) key = old_key;
    if (values.has(key)) {
      const JsonCursor value = values.at(key);
      read_setting(value, field, config);
    }
    field.mark_given(config, is_among(given, key));
  }
  refuse_absurd_counts(values, config);
}

void JsonReader::enter(Name name, Shape shape, Sentence, Lines) {
  open_.push_back({take(name), shape});
  const JsonCursor& json = open_.back().json;
  if (shape == Shape::object || shape == Shape::entries) return json.expect_object();
  json.expect_array();
  if (json.size() > kMaxItems)
    json.fail(fmt::format("has {} entries, more than {}", json.size(), kMaxItems));
}

bool JsonReader::begins(Name name, bool, AbsentValue missing) {
  Level& level = open_.back();
  if (level.shape != Shape::object) {
    const bool is_null = more() && level.json.item(level.next).is_null();
    if (is_null) ++level.next;
    return !is_null;
  }
  if (missing == AbsentValue::left_out && !level.json.has(name)) return false;
  const JsonCursor json = level.json.at(name);
  return !json.is_null();
}

bool JsonReader::more() { return open_.back().next < open_.back().json.size(); }

std::string JsonReader::next_key() {
  const Level& level = open_.back();
  const std::string key(level.json.key(level.next));
  if (!level.words.empty() && !is_among(level.words, key))
    level.json.fail(fmt::format("has the unknown entry '{}'", key));
  if (key.empty()) level.json.fail("has an entry without a name");
  return key;
}

}  // namespace loaderscope
