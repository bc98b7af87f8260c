// A part of a saved result.
#pragma once

#include <string>
#include <vector>

#include "report/json_tree.h"

namespace loaderscope {

inline std::vector<std::string> read_texts(const JsonCursor& json) {
  json.expect_array();
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < json.size(); ++i) texts.push_back(json.item(i).text());
  return texts;
}

}  // namespace loaderscope
