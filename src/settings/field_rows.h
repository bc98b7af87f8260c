// How the rows of the table of fields are written down, and the parts of the table.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "loaderscope/settings.h"
#include "settings/codecs.h"

namespace loaderscope::settings {

using Table = std::vector<Field>;

// Which data, and what is done to it; the loader and the trainer; what is declared, measured and
// answered.
void add_what_runs(Table& table);
void add_loader(Table& table);
void add_trainer(Table& table);
void add_costs(Table& table);
void add_measurement(Table& table);
void add_answer(Table& table);

// What a row says of itself.
struct Description {
  std::string_view name;
  std::vector<std::string_view> aliases;
  std::string_view group;
  std::uint32_t traits;
  std::string_view value_name;
  std::string_view help;
  std::string_view default_words = "";
};

inline Field described(const Description& words) {
  Field field;
  field.name = words.name;
  field.aliases = words.aliases;
  field.group = words.group;
  field.traits = words.traits;
  field.value_name = words.value_name;
  field.help = words.help;
  field.default_words = words.default_words;
  return field;
}

// A field with one value.
template <class T>
Field one(const Description& words, Setting<T> RunConfig::*member, Codec<T> codec) {
  Field field = described(words);
  field.is_number = codec.is_number;
  field.set = [=](RunConfig& c, std::string_view text) { (c.*member).set(codec.parse(text)); };
  field.text = [=](const RunConfig& c) { return codec.spell((c.*member).value); };
  field.texts = [=](const RunConfig& c) {
    return std::vector<std::string>{codec.spell((c.*member).value)};
  };
  field.given = [=](const RunConfig& c) { return (c.*member).given; };
  field.mark_given = [=](RunConfig& c, bool given) { (c.*member).given = given; };
  return field;
}

inline Field on_off(const Description& words, Setting<bool> RunConfig::*member) {
  return one(words, member, switch_codec());
}

// A field with any number of values: `add` puts one in, `spell` gets the text of one.
template <class T>
Field many(const Description& words, Setting<std::vector<T>> RunConfig::*member,
           void (*add)(std::vector<T>&, std::string_view), std::string (*spell)(const T&)) {
  Field field = described(words);
  field.repeats = true;
  field.set = [=](RunConfig& c, std::string_view text) {
    // What is given takes the place of the default, and is added to what was given.
    std::vector<T> values = (c.*member).given ? (c.*member).value : std::vector<T>();
    add(values, text);
    (c.*member).set(std::move(values));
  };
  field.texts = [=](const RunConfig& c) {
    std::vector<std::string> texts;
    for (const T& value : (c.*member).value) texts.push_back(spell(value));
    return texts;
  };
  field.text = [=](const RunConfig& c) {
    const std::vector<T>& values = (c.*member).value;
    return values.empty() ? std::string() : spell(values.front());
  };
  field.given = [=](const RunConfig& c) { return (c.*member).given; };
  field.mark_given = [=](RunConfig& c, bool given) { (c.*member).given = given; };
  return field;
}

inline std::string same_text(const std::string& text) { return text; }

}  // namespace loaderscope::settings
