#include "measure/proc_file.h"

#include <fstream>
#include <sstream>

namespace loaderscope {

std::optional<std::int64_t> value_in(const std::string& path, const std::string& key) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with(key)) continue;
    std::istringstream rest(line.substr(key.size()));
    if (rest.peek() == ':') rest.get();
    std::int64_t value = 0;
    if (rest >> value) return value;
  }
  return std::nullopt;
}

}  // namespace loaderscope
