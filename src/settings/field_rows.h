// How the rows of the table of fields are written down, and the parts of the table.
#pragma once

#include <string>
#include <string_view>
#include <tuple>
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

// The group that a member belongs to.
template <class Group>
Group& part_of(RunConfig& config) {
  return std::get<Group&>(std::tie(config, config.program, config.data, config.image, config.loader,
                                   config.trainer, config.declared, config.measure, config.answer));
}
template <class Group>
const Group& part_of(const RunConfig& config) {
  return part_of<Group>(const_cast<RunConfig&>(config));
}

// A field with one value.
template <class Group, class T>
Field one(const Description& words, Setting<T> Group::*member, Codec<T> codec) {
  Field field = described(words);
  field.is_number = codec.is_number;
  field.set = [=](RunConfig& c, std::string_view text) {
    (part_of<Group>(c).*member).set(codec.parse(text));
  };
  field.text = [=](const RunConfig& c) { return codec.spell((part_of<Group>(c).*member).value); };
  field.texts = [=](const RunConfig& c) {
    return std::vector<std::string>{codec.spell((part_of<Group>(c).*member).value)};
  };
  field.given = [=](const RunConfig& c) { return (part_of<Group>(c).*member).given; };
  field.mark_given = [=](RunConfig& c, bool given) { (part_of<Group>(c).*member).given = given; };
  return field;
}

template <class Group>
Field on_off(const Description& words, Setting<bool> Group::*member) {
  return one(words, member, switch_codec());
}

// A field with any number of values: `add` puts one in, `spell` gets the text of one.
template <class T, class Group>
Field many(const Description& words, Setting<std::vector<T>> Group::*member,
           void (*add)(std::vector<T>&, std::string_view), std::string (*spell)(const T&)) {
  Field field = described(words);
  field.repeats = true;
  field.set = [=](RunConfig& c, std::string_view text) {
    // What is given takes the place of the default, and is added to what was given.
    std::vector<T> values =
        (part_of<Group>(c).*member).given ? (part_of<Group>(c).*member).value : std::vector<T>();
    add(values, text);
    (part_of<Group>(c).*member).set(std::move(values));
  };
  field.texts = [=](const RunConfig& c) {
    std::vector<std::string> texts;
    for (const T& value : (part_of<Group>(c).*member).value) texts.push_back(spell(value));
    return texts;
  };
  field.text = [=](const RunConfig& c) {
    const std::vector<T>& values = (part_of<Group>(c).*member).value;
    return values.empty() ? std::string() : spell(values.front());
  };
  field.given = [=](const RunConfig& c) { return (part_of<Group>(c).*member).given; };
  field.mark_given = [=](RunConfig& c, bool given) { (part_of<Group>(c).*member).given = given; };
  return field;
}

inline std::string same_text(const std::string& text) { return text; }

}  // namespace loaderscope::settings
