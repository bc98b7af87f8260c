// Words of earlier versions that flags, scenarios, saved results, paths and `explain` still accept.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace loaderscope {

enum class WordKind : std::uint8_t { setting, parameter, engine, metric, finding, limit };

struct OldWord {
  WordKind kind;
  std::string_view old_name, name;
};

std::span<const OldWord> old_words();

// Returns today's word for `word`, which may be an old one; any other word is returned as it is.
std::string_view current_word(WordKind kind, std::string_view word);

// Returns the earlier word for `name`; "" if it never had another.
std::string_view old_word(WordKind kind, std::string_view name);

}  // namespace loaderscope
