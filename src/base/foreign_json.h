// JSON that other programs wrote: its depth and its number of values have limits.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string_view>

namespace loaderscope {

// Limits the depth because nlohmann's copy, comparison and dump call themselves for each level.
inline constexpr int kMaxDepthOfJson = 64;
// Limits the memory: a value of two bytes of text takes 16 to 64 bytes.
inline constexpr std::int64_t kMaxJsonValues = std::int64_t{1} << 24;

// Returns a discarded value if the text is no JSON. Throws ValueError if it exceeds a limit.
// Numbers beyond the range of an int64 are clamped to +-9e18. `Json`: nlohmann::json or
// nlohmann::ordered_json.
template <class Json>
Json parse_foreign_json(std::string_view text, std::int64_t most_values = kMaxJsonValues);

}  // namespace loaderscope
