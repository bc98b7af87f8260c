#include "guest/protocol/bounded.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace loaderscope::guest {

nlohmann::json parse_message(const std::string& text) {
  using nlohmann::json;
  static constexpr double kMost = 9e18;  // below the most of an int64
  return json::parse(text, [](int, json::parse_event_t event, json& value) {
    if (event == json::parse_event_t::value && value.is_number_float())
      value = std::clamp(value.get<double>(), -kMost, kMost);
    return true;
  });
}

}  // namespace loaderscope::guest
