// Conversion of the values of fields from and to text: one pair of functions per kind of value.
#pragma once

#include <string>
#include <string_view>

#include "loaderscope/errors.h"
#include "loaderscope/settings.h"

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
  throw unknown_word(text, names_of<Enum>());
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
Codec<std::string> path_codec();
Codec<std::string> function_codec();  // FILE.py:FUNCTION
Codec<std::string> method_codec();    // FILE.py:NAME, also of a method: CLASS.NAME
Codec<std::string> loader_codec();    // same as method_codec, or the name of a pipeline

// Accepts the names of the rows of a family, also of rows that are not available here.
Codec<std::string> engine_codec();
Codec<std::string> device_codec();
Codec<std::string> source_codec();

}  // namespace loaderscope
