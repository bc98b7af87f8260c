#include "machine/proc_file.h"

#include <algorithm>
#include <fstream>
#include <sstream>

namespace loaderscope {
namespace {

std::optional<std::int64_t> value_behind(std::string_view key, const std::string& line) {
  if (!line.starts_with(key)) return std::nullopt;
  std::istringstream rest(line.substr(key.size()));
  if (rest.peek() == ':') rest.get();
  std::int64_t value = 0;
  return rest >> value ? std::optional(value) : std::nullopt;
}

}  // namespace

std::vector<std::optional<std::int64_t>> values_in(const std::string& path,
                                                   std::initializer_list<std::string_view> keys) {
  std::vector<std::optional<std::int64_t>> values(keys.size());
  std::size_t missing = values.size();
  std::ifstream file(path);
  for (std::string line; missing > 0 && std::getline(file, line);) {
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (values[i]) continue;
      values[i] = value_behind(keys.begin()[i], line);
      if (values[i]) --missing;
    }
  }
  return values;
}

std::optional<std::int64_t> value_in(const std::string& path, std::string_view key) {
  return values_in(path, {key}).front();
}

}  // namespace loaderscope
