#include "engine/guest/bounded.h"

#include <cmath>
#include <nlohmann/json.hpp>

namespace loaderscope::guest {

nlohmann::json parse_message(const std::string& text) {
  using nlohmann::json;
  constexpr double kMost = 9e18;  // below the most of an int64
  return json::parse(text, [](int, json::parse_event_t event, json& value) {
    if (event == json::parse_event_t::value && value.is_number_float() &&
        !(std::abs(value.get<double>()) < kMost))
      value = nullptr;
    return true;
  });
}

}  // namespace loaderscope::guest
