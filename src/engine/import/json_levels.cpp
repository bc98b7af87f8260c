#include "engine/import/json_levels.h"

#include <fmt/format.h>

#include <istream>

#include "loaderscope/errors.h"

namespace loaderscope::traces {

bool JsonLevels::key(std::string& name) {
  if (depth_ < keys_.size()) keys_[depth_].assign(name, 0, kMaxKey);
  stream_.understood();
  return true;
}

bool JsonLevels::parse_error(std::size_t position, const std::string&,
                             const nlohmann::detail::exception&) {
  throw RunError(fmt::format("{}: is cut off or damaged at byte {}", path_, position),
                 "record it again, or fetch the file again");
}

bool JsonLevels::read(double value, const std::string* string) {
  stream_.understood();
  if (string != nullptr) {
    text(*string);
  } else {
    number(value);
  }
  return true;
}

bool JsonLevels::open() {
  if (++depth_ > kMaxDepth)
    throw RunError(path_ + ": nested deeper than any profile", "give what a sampler wrote");
  if (depth_ < keys_.size()) keys_[depth_].clear();
  stream_.understood();
  opened();
  return true;
}

bool JsonLevels::close() {
  closing();
  --depth_;
  stream_.understood();
  return true;
}

void parse(TraceStream& stream, JsonLevels& levels) {
  std::istream input(&stream);
  nlohmann::json::sax_parse(input, &levels);
}

}  // namespace loaderscope::traces
