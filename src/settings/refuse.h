// Errors for settings that are not possible.
#pragma once

#include <string>
#include <string_view>

#include "loaderscope/errors.h"
#include "loaderscope/settings.h"

namespace loaderscope::settings {

// "prefetch-factor = 4"
inline std::string in_words(const RunConfig& config, std::string_view key) {
  return std::string(key) + " = " + shown_text(find_field(key)->text(config));
}

// These throw UsageError.
[[noreturn]] inline void refuse(const RunConfig& config, std::string_view key,
                                const std::string& reason, const std::string& hint = "") {
  throw UsageError(in_words(config, key) + ": " + reason, hint);
}

inline void refuse_given(const RunConfig& config, std::string_view key, const std::string& reason,
                         const std::string& hint = "") {
  if (find_field(key)->given(config)) refuse(config, key, reason, hint);
}

// Refuses each given setting that is about one of `traits`.
inline void refuse_any(const RunConfig& config, std::uint32_t traits, const std::string& reason,
                       const std::string& hint = "") {
  for (const Field& field : fields()) {
    if (field.is_about(traits) && field.given(config)) refuse(config, field.name, reason, hint);
  }
}

}  // namespace loaderscope::settings
