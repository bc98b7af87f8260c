// The table of fields: every setting of a run, once.
#include <algorithm>
#include <utility>

#include "base/old_words.h"
#include "loaderscope/errors.h"
#include "loaderscope/settings.h"
#include "settings/field_rows.h"

namespace loaderscope {
namespace {

settings::Table make_table() {
  settings::Table table;
  settings::add_what_runs(table);
  settings::add_loader(table);
  settings::add_trainer(table);
  settings::add_costs(table);
  settings::add_measurement(table);
  settings::add_answer(table);
  for (Field& field : table) field.old_name = old_word(WordKind::setting, field.name);
  return table;
}

// "no-NAME" of a switch.
const Field* find_negated(std::string_view name) {
  if (!name.starts_with("no-")) return nullptr;
  for (const Field& field : fields()) {
    if (field.is_switch() && field.name == name.substr(3)) return &field;
  }
  return nullptr;
}

std::vector<std::string_view> known_keys() {
  std::vector<std::string_view> keys;
  for (const Field& field : fields()) {
    keys.push_back(field.name);
    keys.insert(keys.end(), field.aliases.begin(), field.aliases.end());
  }
  return keys;
}

// "x.conf:3: compute = 12" in a file, "--compute 12" on the command line (no place).
std::string subject(std::string_view place, std::string_view key, std::string_view value) {
  const std::string shown = shown_text(value);
  if (!place.empty()) return std::string(place) + ": " + std::string(key) + " = " + shown;
  return "--" + std::string(key) + " " + (shown.empty() ? "''" : shown);
}

}  // namespace

std::span<const Field> fields() {
  static const settings::Table table = make_table();
  return table;
}

const Field* find_field(std::string_view name_or_alias) {
  for (const Field& field : fields()) {
    if (field.name == name_or_alias) return &field;
    if (!field.old_name.empty() && field.old_name == name_or_alias) return &field;
    if (std::find(field.aliases.begin(), field.aliases.end(), name_or_alias) !=
        field.aliases.end()) {
      return &field;
    }
  }
  return find_negated(name_or_alias);
}

void set_field(RunConfig& config, std::string_view place, std::string_view key,
               std::string_view value) {
  const Field* field = find_field(key);
  if (field == nullptr) {
    const std::string where = place.empty() ? "" : std::string(place) + ": ";
    throw UsageError(where + shown_text(key) + ": unknown key", did_you_mean(key, known_keys()));
  }
  try {
    if (find_negated(key) == field) {
      const bool on = switch_codec().parse(value);
      field->set(config, on ? "false" : "true");
    } else {
      field->set(config, value);
    }
  } catch (const ValueError& error) {
    throw add_place<UsageError>(subject(place, key, value) + ": ", error);
  }
}

}  // namespace loaderscope
