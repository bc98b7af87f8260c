#include "guest/protocol/bounded.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/foreign_json.h"
#include "loaderscope/errors.h"

namespace loaderscope::guest {

using nlohmann::json;

json parse_message(const std::string& text) {
  json message = parse_foreign_json<json>(text);
  if (message.is_discarded()) throw ValueError("it is no JSON");
  return message;
}

std::string read_text(const json& message, const char* name, std::size_t longest) {
  return bounded_text(message.value(name, ""), longest);
}

std::int64_t read_number(const json& message, const char* name, const Range& range,
                         std::int64_t otherwise) {
  const std::int64_t number = message.value(name, otherwise);
  if (number < range.least || number > range.most)
    throw ValueError(std::string(name) + ": out of range");
  return number;
}

std::int64_t read_clamped(const json& message, const char* name, const Range& range,
                          std::int64_t otherwise) {
  return std::clamp(message.value(name, otherwise), range.least, range.most);
}

}  // namespace loaderscope::guest
