#include "base/foreign_json.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "loaderscope/errors.h"

namespace loaderscope {

template <class Json>
Json parse_foreign_json(std::string_view text, std::int64_t most_values) {
  using Event = typename Json::parse_event_t;
  static constexpr double kMax = 9e18;  // less than the largest int64
  std::int64_t values = 0;
  const auto check = [&values, most_values](int depth, Event event, Json& value) {
    if (event == Event::value && value.is_number_float())
      value = std::clamp(value.template get<double>(), -kMax, kMax);
    if (event == Event::object_end || event == Event::array_end) return true;
    if (depth >= kMaxDepthOfJson)
      throw ValueError(fmt::format("is nested deeper than {} levels of JSON", kMaxDepthOfJson));
    if (++values > most_values)
      throw ValueError(fmt::format("holds more than {} values of JSON", most_values));
    return true;
  };
  return Json::parse(text, check, false);
}

template nlohmann::json parse_foreign_json(std::string_view, std::int64_t);
template nlohmann::ordered_json parse_foreign_json(std::string_view, std::int64_t);

}  // namespace loaderscope
