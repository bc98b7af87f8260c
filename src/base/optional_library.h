// Libraries that the program can do without. The build makes built_with.h, which has a constant for
// each, of the rows in src/optional_libraries.cmake.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace loaderscope {

struct OptionalLibrary {
  std::string_view name;
  std::string_view packages;  // names of Debian packages, "a and b"
  bool is_built;              // the program is linked with it
};

inline constexpr OptionalLibrary kNoLibrary = {"", "", true};

// Returns why `library` is missing and what to do about it, without a full stop.
inline std::string describe_missing(const OptionalLibrary& library) {
  return "built without " + std::string(library.name) + "; install " +
         std::string(library.packages) + " and build again";
}

// Returns nothing if the library is there, for Row::unavailable.
template <const OptionalLibrary& library>
std::optional<std::string> reason_missing() {
  if constexpr (library.is_built) return std::nullopt;
  return describe_missing(library) + ".";
}

// Returns null if the library is missing. No code then refers to `function`, which is not linked.
template <class Function>
consteval Function* if_built(const OptionalLibrary& library, Function* function) {
  return library.is_built ? function : nullptr;
}

}  // namespace loaderscope
