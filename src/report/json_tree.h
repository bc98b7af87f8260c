// A JSON document as a tree, with numbers kept exact, read piece by piece so that long arrays are
// never held.
#pragma once

#include <cstdint>
#include <functional>
#include <istream>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "loaderscope/units.h"

namespace loaderscope {

struct JsonNode {
  enum class Kind : std::uint8_t { null, boolean, integer, real, text, array, object };
  Kind kind = Kind::null;
  bool boolean = false;
  std::optional<Nanos>
      ns;  // number with at most nine decimals: the exact value x 10^9, if that fits
  std::int64_t integer = 0;  // value of an integer
  double real = 0;           // value of any number
  std::string text;
  std::vector<std::string> keys;  // keys of an object, one per item
  std::vector<JsonNode> items;

  const JsonNode* find(std::string_view key) const;  // null when not there
};

// The next step, at the end of a message about a broken document.
inline constexpr const char* kSaveAgain = "; save the result again with --json";

// Elements of the top-level arrays named in `streamed` go to `take_element` and are forgotten; the
// rest of the document is returned. `see_member` is shown each top-level member as soon as it is
// read.
struct JsonReading {
  std::vector<std::string_view> streamed;
  std::function<void(std::string_view key, const JsonNode& element)> take_element;
  std::function<void(std::string_view key, const JsonNode& value)> see_member;
};

// Throws RunError naming `place`: not JSON, cut off, nested too deep.
JsonNode read_json(std::istream& input, const std::string& place, const JsonReading& reading);

}  // namespace loaderscope
