#include "guest/protocol/bounded.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "loaderscope/errors.h"

namespace loaderscope::guest {

using nlohmann::json;

json parse_message(const std::string& text) {
  static constexpr double kMost = 9e18;  // below the most of an int64
  return json::parse(text, [](int, json::parse_event_t event, json& value) {
    if (event == json::parse_event_t::value && value.is_number_float())
      value = std::clamp(value.get<double>(), -kMost, kMost);
    return true;
  });
}

std::string text_in(const json& message, const char* name, std::size_t longest) {
  return bounded_text(message.value(name, ""), longest);
}

std::int64_t number_in(const json& message, const char* name, const Range& range,
                       std::int64_t otherwise) {
  const std::int64_t number = message.value(name, otherwise);
  if (number < range.least || number > range.most)
    throw ValueError(std::string(name) + ": out of range");
  return number;
}

std::int64_t clamped_in(const json& message, const char* name, const Range& range,
                        std::int64_t otherwise) {
  return std::clamp(message.value(name, otherwise), range.least, range.most);
}

}  // namespace loaderscope::guest
