// Notation of the rows of the table of fields, and the parts of the table. Codecs convert the
// values of fields from and to text: one pair of functions per kind of value.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "loaderscope/errors.h"
#include "loaderscope/settings.h"
#include "record/environment_changes.h"

namespace loaderscope {

// spell() returns a text that parse() converts back to the same value.
template <class T>
struct Codec {
  T (*parse)(std::string_view);  // throws ValueError
  std::string (*spell)(const T&);
  bool is_number = false;  // the spelling is a number in JSON
};

// Returns "expected one of a b c" for an unknown word, with the nearest known word.
ValueError unknown_word(std::string_view word, const std::vector<std::string_view>& known);

template <class Enum>
Enum parse_word(std::string_view text) {
  if (const auto value = value_of<Enum>(text)) return *value;
  throw unknown_word(text, enum_names<Enum>());
}

template <class Enum>
Codec<Enum> word_codec() {
  return {parse_word<Enum>, [](const Enum& value) { return std::string(name_of(value)); }};
}

Codec<std::int64_t> count_codec();
Codec<double> real_codec();
Codec<double> fraction_codec();  // 0 < x <= 1
Codec<bool> switch_codec();      // true, false
Codec<Nanos> duration_codec();
Codec<Bytes> size_codec();
Codec<double> byte_rate_codec();   // 0 = none
Codec<double> count_rate_codec();  // 0 = none
Codec<Distribution> time_codec();
Codec<Compute> compute_codec();
Codec<Distribution> bytes_codec();
Codec<WarmUp> warmup_codec();
Codec<Link> link_codec();
Codec<Bind> bind_codec();
Codec<DecodePlace> decode_codec();
Codec<Resident> resident_codec();
Codec<std::string> path_codec();
Codec<std::string> function_codec();  // FILE.py:FUNCTION
Codec<std::string> method_codec();    // FILE.py:NAME, also of a method: CLASS.NAME
Codec<std::string> loader_codec();    // same as method_codec, or the name of a pipeline

SharedSpeed parse_shared_speed(std::string_view text);  // throws ValueError

// Accepts the names of the rows of a family, also of rows that are not available here.
Codec<std::string> engine_codec();
Codec<std::string> device_codec();
Codec<std::string> source_codec();

}  // namespace loaderscope

namespace loaderscope::settings {

using Table = std::vector<Field>;

// Parts of the table: the data and the work on it, the loader, the trainer, and the declared,
// measured and answered values.
void add_what_runs(Table& table);
void add_loader(Table& table);
void add_trainer(Table& table);
void add_costs(Table& table);
void add_measurement(Table& table);
void add_answer(Table& table);

// Returns the group that a member belongs to.
template <class Group>
Group& settings_group(RunConfig& config) {
  return std::get<Group&>(std::tie(config, config.program, config.data, config.image, config.loader,
                                   config.trainer, config.declared, config.measure, config.answer));
}
template <class Group>
const Group& settings_group(const RunConfig& config) {
  return settings_group<Group>(const_cast<RunConfig&>(config));
}

// Returns about::kCores, about::kStorage or no trait.
inline std::uint32_t environment_trait(std::string_view setting) {
  const std::optional<EnvironmentPart> part = environment_part(setting);
  if (!part) return about::kNoTrait;
  return *part == EnvironmentPart::cores ? about::kCores : about::kStorage;
}

// Name of a field, and an optional alias.
struct FieldNames {
  FieldNames(const char* one) : name(one) {}  // NOLINT: a row has a name or two of them
  FieldNames(const char* one, const char* other) : name(one), alias(other) {}

  std::string_view name, alias;
};

// Adds rows to the table, one per call. Each returned reference is valid until the next call.
class Rows {
 public:
  Rows(Table& table, std::string_view group) : table_(table), group_(group) {}

  // Adds a field with one value.
  template <class Group, class T>
  Field& add(const FieldNames& names, std::string_view value_name, Setting<T> Group::*member,
             Codec<T> codec, std::uint32_t traits, std::string_view help,
             std::string_view default_words = "") {
    Field& field = add_row(names, value_name, traits, help, default_words);
    field.is_number = codec.is_number;
    field.set = [=](RunConfig& c, std::string_view text) {
      (settings_group<Group>(c).*member).set(codec.parse(text));
    };
    field.text = [=](const RunConfig& c) {
      return codec.spell((settings_group<Group>(c).*member).value);
    };
    field.texts = [=](const RunConfig& c) {
      return std::vector<std::string>{codec.spell((settings_group<Group>(c).*member).value)};
    };
    add_given(field, member);
    return field;
  }

  template <class Group>
  Field& add_switch(const FieldNames& names, Setting<bool> Group::*member, std::uint32_t traits,
                    std::string_view help) {
    return add(names, "", member, switch_codec(), traits, help);
  }

  // Adds a field with any number of values. `append` adds one value, `spell` returns the text of
  // one.
  template <class T, class Group>
  Field& add_list(const FieldNames& names, std::string_view value_name,
                  Setting<std::vector<T>> Group::*member,
                  void (*append)(std::vector<T>&, std::string_view), std::string (*spell)(const T&),
                  std::uint32_t traits, std::string_view help, std::string_view default_words) {
    Field& field = add_row(names, value_name, traits, help, default_words);
    field.repeats = true;
    field.set = [=](RunConfig& c, std::string_view text) {
      // A given value replaces the default, and is appended to values given before.
      std::vector<T> values = (settings_group<Group>(c).*member).given
                                  ? (settings_group<Group>(c).*member).value
                                  : std::vector<T>();
      append(values, text);
      (settings_group<Group>(c).*member).set(std::move(values));
    };
    field.texts = [=](const RunConfig& c) {
      std::vector<std::string> texts;
      for (const T& value : (settings_group<Group>(c).*member).value) texts.push_back(spell(value));
      return texts;
    };
    field.text = [=](const RunConfig& c) {
      const std::vector<T>& values = (settings_group<Group>(c).*member).value;
      return values.empty() ? std::string() : spell(values.front());
    };
    add_given(field, member);
    return field;
  }

 private:
  Field& add_row(const FieldNames& names, std::string_view value_name, std::uint32_t traits,
                 std::string_view help, std::string_view default_words) {
    Field& field = table_.emplace_back();
    field.name = names.name;
    if (!names.alias.empty()) field.aliases = {names.alias};
    field.group = group_;
    field.traits = traits | environment_trait(names.name);
    field.value_name = value_name;
    field.help = help;
    field.default_words = default_words;
    return field;
  }

  template <class Group, class T>
  static void add_given(Field& field, Setting<T> Group::*member) {
    field.given = [=](const RunConfig& c) { return (settings_group<Group>(c).*member).given; };
    field.mark_given = [=](RunConfig& c, bool given) {
      (settings_group<Group>(c).*member).given = given;
    };
  }

  Table& table_;
  std::string_view group_;
};

inline std::string same_text(const std::string& text) { return text; }

}  // namespace loaderscope::settings
