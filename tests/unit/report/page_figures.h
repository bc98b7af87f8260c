// The numbers of a page and their paths in the result that the page carries.
#pragma once

#include <cctype>
#include <nlohmann/json.hpp>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

namespace loaderscope::test {

struct PageFigure {
  double value = 0;
  std::string path;
};

inline std::vector<PageFigure> find_figures(const std::string& page) {
  static const std::regex figure("<data value=\"([^\"]+)\" data-path=\"([^\"]+)\">");
  std::vector<PageFigure> figures;
  for (std::sregex_iterator it(page.begin(), page.end(), figure), end; it != end; ++it)
    figures.push_back({std::stod((*it)[1]), (*it)[2]});
  return figures;
}

inline nlohmann::json result_carried_by(const std::string& page) {
  const std::string begin = "id=\"result\">";
  const std::size_t at = page.find(begin) + begin.size();
  return nlohmann::json::parse(page.substr(at, page.find("</script>", at) - at));
}

// The number at `path`, which has names of members and indices of arrays, separated by dots.
inline double value_at(const nlohmann::json& result, const std::string& path) {
  std::istringstream names(path);
  const nlohmann::json* at = &result;
  for (std::string name; std::getline(names, name, '.');)
    at = at->is_array() ? &at->at(std::stoul(name)) : &at->at(name);
  return at->get<double>();
}

}  // namespace loaderscope::test
