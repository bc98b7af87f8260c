// The description of results. One function for each struct shows each member to a ResultVisitor,
// with its name, its value and a sentence. JsonWriter writes a result, JsonReader reads it,
// SchemaWriter writes its schema, and FlatWalk shows its single values to the forms of text.
//
// Names end with their units: _s are seconds with nine decimals, exact to the nanosecond, _ns
// integer nanoseconds. An element of a list has the name "".
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "loaderscope/run_config.h"
#include "loaderscope/units.h"
#include "loaderscope/vocabulary.h"

namespace loaderscope {

// Range of whole numbers, and of seconds in ns.
struct IntegerRange {
  static constexpr std::int64_t kMax = std::int64_t{1} << 60;  // a few of them can be added up
  std::int64_t least = 0, most = kMax;
};
inline constexpr IntegerRange kAnyTime{-(Nanos{1} << 61), Nanos{1} << 61};

struct RealRange {
  double least = -std::numeric_limits<double>::infinity();
  double most = std::numeric_limits<double>::infinity();
};
inline constexpr RealRange kNotNegative{.least = 0}, kShare{0, 1};

enum class AbsentValue : std::uint8_t { null, left_out };  // form of an absent value
enum class Lines : std::uint8_t { each, one };             // for each member, or for all of them
enum class Shape : std::uint8_t {
  object,
  list,
  row,     // a list whose places have meanings
  entries  // an object whose keys are data
};

class ResultVisitor {
 public:
  enum class VisitMode : std::uint8_t { write, read, explain };

  virtual ~ResultVisitor() = default;
  ResultVisitor(const ResultVisitor&) = delete;
  ResultVisitor& operator=(const ResultVisitor&) = delete;

  bool reads() const { return does_ == VisitMode::read; }
  bool explains() const { return does_ == VisitMode::explain; }

  // --- one value ---
  using Name = std::string_view;
  using Sentence = std::string_view;
  virtual void text(Name name, std::string& value, Sentence sentence) = 0;
  virtual void word(Name name, std::string& value, const std::vector<std::string_view>& words,
                    Sentence sentence) = 0;
  virtual void flag(Name name, bool& value, Sentence sentence) = 0;
  virtual void whole(Name name, std::int64_t& value, Sentence sentence,
                     IntegerRange within = {}) = 0;
  virtual void real(Name name, double& value, Sentence sentence, RealRange within = {}) = 0;
  virtual void seconds(Name name, Nanos& value, Sentence sentence, IntegerRange within = {}) = 0;
  // All settings in force, and which of them the user gave.
  virtual void settings(RunConfig& config) = 0;

  void whole(Name name, std::int32_t& value, Sentence sentence);
  // Seconds since `origin`.
  void moment(Name name, Nanos& value, Sentence sentence, IntegerRange within = kAnyTime);
  void moment_ns(Name name, Nanos& value, Sentence sentence);  // never is null
  template <class Enum>
  void word(Name name, Enum& value, Sentence sentence);
  // Shows an enum whose values are the indexes of `words`.
  template <class Enum>
  void numbered_word(Name name, Enum& value, const std::vector<std::string_view>& words,
                     Sentence sentence);
  // Shows null for an absent value.
  void real_or_null(Name name, std::optional<double>& value, Sentence sentence,
                    RealRange within = {});

  // --- Values that are computed for readers of the result, and not read back.
  void shown(Name name, std::string value, Sentence sentence);
  void shown(Name name, const char* value, Sentence sentence);
  void shown(Name name, bool value, Sentence sentence);
  void shown(Name name, double value, Sentence sentence, RealRange within = {});
  void shown(Name name, std::int64_t value, Sentence sentence, IntegerRange within = {});
  void shown_seconds(Name name, Nanos value, Sentence sentence, IntegerRange within = {});
  void shown_word(Name name, std::string_view value, const std::vector<std::string_view>& words,
                  Sentence sentence);
  template <class T, class... Bounds>
  void shown(Name name, const std::optional<T>& value, Sentence sentence, Bounds... bounds);

  // --- several values ---
  // `members()` shows those of an object, or the places of a row.
  template <class Members>
  void object(Name name, Sentence sentence, const Members& members, Lines lines = Lines::each);
  // All of the members, or none.
  template <class Members>
  void object_or_empty(Name name, bool there, Sentence sentence, const Members& members,
                       Lines lines = Lines::each);
  template <class Places>
  void row(Name name, Sentence sentence, const Places& places);
  // `element(item)` shows an item under the name "".
  template <class Item, class Element>
  void list(Name name, std::vector<Item>& items, Sentence sentence, const Element& element,
            Lines lines = Lines::each);
  // `pieces()` shows each itself, under the name "".
  template <class Pieces>
  void array(Name name, Sentence sentence, const Pieces& pieces);
  // `entry(key, item)` shows an item under its key. `words`: what keys can be; empty: anything.
  template <class Item, class Entry>
  void entries(Name name, std::vector<std::pair<std::string, Item>>& items, Sentence sentence,
               const Entry& entry, const std::vector<std::string_view>& words = {},
               Lines lines = Lines::each);
  // Shows the values by the words of an enum for which `is_there(value)` is true. `entry(word,
  // value)` shows one under its word.
  template <class Enum, class Values, class IsThere, class Entry>
  void each_word(Name name, Values& values, Sentence sentence, const IsThere& is_there,
                 const Entry& entry);
  void text_or_null(Name name, std::string& value, Sentence sentence);  // null: ""
  void texts(Name name, std::vector<std::string>& items, Sentence sentence,
             Lines lines = Lines::each);
  // `value(item)` shows it under `name`.
  template <class T, class Value>
  void optional(Name name, std::optional<T>& item, AbsentValue missing, const Value& value);
  // Shows nothing if `there` is false.
  template <class Value>
  void if_there(Name name, bool there, AbsentValue missing, const Value& value);

  // TextReport: what was read cannot be. Throws then, naming the place.
  virtual void refuse(std::string_view) const {}

  // Shows a column for people that JSON omits, because it follows from the rest.
  virtual void column(Name, Nanos) {}

  Nanos origin = 0;  // zero point of moments

 protected:
  explicit ResultVisitor(VisitMode does) : does_(does) {}

  virtual void enter(Name name, Shape shape, Sentence sentence, Lines lines) = 0;
  virtual void leave() = 0;
  // Returns true if the value follows. Otherwise writes null or nothing, as `missing` says.
  virtual bool begins(Name name, bool there, AbsentValue missing) = 0;
  virtual bool more() { return false; }          // reading: a list or entries have more
  virtual std::string next_key() { return {}; }  // reading entries
  virtual void keys(const std::vector<std::string_view>&) {}  // allowed keys; empty: any
  virtual void may_be_empty() {}                              // the object

 private:
  VisitMode does_;
};

template <class Enum>
void ResultVisitor::word(Name name, Enum& value, Sentence sentence) {
  std::string text(name_of(value));
  word(name, text, enum_names<Enum>(), sentence);
  if (reads()) value = value_of<Enum>(text).value_or(value);
}

template <class Enum>
void ResultVisitor::numbered_word(Name name, Enum& value,
                                  const std::vector<std::string_view>& words, Sentence sentence) {
  std::string text(words.at(static_cast<std::size_t>(value)));
  word(name, text, words, sentence);
  const auto found = std::find(words.begin(), words.end(), text);
  if (reads() && found != words.end()) value = static_cast<Enum>(found - words.begin());
}

template <class T, class... Bounds>
void ResultVisitor::shown(Name name, const std::optional<T>& value, Sentence sentence,
                          Bounds... bounds) {
  if (reads()) return;
  if (begins(name, value.has_value(), AbsentValue::null))
    shown(name, value.value_or(T{}), sentence, bounds...);
}

template <class Members>
void ResultVisitor::object(Name name, Sentence sentence, const Members& members, Lines lines) {
  enter(name, Shape::object, sentence, lines);
  members();
  leave();
}

template <class Members>
void ResultVisitor::object_or_empty(Name name, bool there, Sentence sentence,
                                    const Members& members, Lines lines) {
  enter(name, Shape::object, sentence, lines);
  may_be_empty();
  if (there || explains()) members();
  leave();
}

template <class Places>
void ResultVisitor::row(Name name, Sentence sentence, const Places& places) {
  enter(name, Shape::row, sentence, Lines::one);
  places();
  leave();
}

template <class Pieces>
void ResultVisitor::array(Name name, Sentence sentence, const Pieces& pieces) {
  enter(name, Shape::list, sentence, Lines::each);
  pieces();
  leave();
}

template <class Item, class Element>
void ResultVisitor::list(Name name, std::vector<Item>& items, Sentence sentence,
                         const Element& element, Lines lines) {
  enter(name, Shape::list, sentence, lines);
  if (explains()) {
    Item item{};
    element(item);
  } else {
    while (reads() && more()) element(items.emplace_back());
    if (!reads()) {
      for (Item& item : items) element(item);
    }
  }
  leave();
}

template <class Item, class Entry>
void ResultVisitor::entries(Name name, std::vector<std::pair<std::string, Item>>& items,
                            Sentence sentence, const Entry& entry,
                            const std::vector<std::string_view>& words, Lines lines) {
  enter(name, Shape::entries, sentence, lines);
  keys(words);
  if (explains()) {
    Item item{};
    entry("", item);
  }
  while (reads() && more()) {
    auto& [key, item] = items.emplace_back(next_key(), Item{});
    entry(key, item);
  }
  if (!reads() && !explains()) {
    for (auto& [key, item] : items) entry(key, item);
  }
  leave();
}

template <class Enum, class Values, class IsThere, class Entry>
void ResultVisitor::each_word(Name name, Values& values, Sentence sentence, const IsThere& is_there,
                              const Entry& entry) {
  static const std::vector<std::string_view> words = enum_names<Enum>();
  enter(name, Shape::entries, sentence, Lines::each);
  keys(words);
  if (explains()) {
    typename Values::value_type none{};
    entry("", none);
  }
  while (reads() && more()) {
    const std::string key = next_key();
    entry(key, values[*value_of<Enum>(key)]);
  }
  if (!reads() && !explains()) {
    for (const auto& word : Words<Enum>::table()) {
      if (is_there(values[word.value])) entry(word.name, values[word.value]);
    }
  }
  leave();
}

template <class T, class Value>
void ResultVisitor::optional(Name name, std::optional<T>& item, AbsentValue missing,
                             const Value& value) {
  if (!begins(name, item.has_value(), missing)) return;
  if (explains()) {
    T none{};
    return value(none);
  }
  value(item ? *item : item.emplace());
}

template <class Value>
void ResultVisitor::if_there(Name name, bool there, AbsentValue missing, const Value& value) {
  if (begins(name, there, missing)) value();
}

// Seconds by the words of an enum: each of them, or those that are not 0.
template <class Enum, class Values>
void format_seconds(ResultVisitor& form, std::string_view name, Values& values,
                    std::string_view sentence, std::string_view each_sentence) {
  form.object(name, sentence, [&] {
    for (const auto& word : Words<Enum>::table())
      form.seconds(word.name, values[word.value], each_sentence);
  });
}

template <class Enum, class Values>
void format_seconds_but_zeros(ResultVisitor& form, std::string_view name, Values& values,
                              std::string_view sentence, std::string_view each_sentence) {
  form.each_word<Enum>(
      name, values, sentence, [](Nanos ns) { return ns != 0; },
      [&](std::string_view key, Nanos& ns) { form.seconds(key, ns, each_sentence); });
}

}  // namespace loaderscope
