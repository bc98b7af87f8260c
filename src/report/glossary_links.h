// Links from the words of an answer to their meaning, on the page that shows the answer.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "manual/words.h"

namespace loaderscope {

class GlossaryLinks {
 public:
  // Returns the text as HTML. Findings and gaps link to their basis. In a line about whys, the whys
  // do.
  std::string link_prose(std::string_view text, bool is_of_whys = false);
  // Does the same for a cell that is a cause or a metric.
  std::string link_cell(std::string_view text);

  std::string section() const;  // section with the meanings; "" if no word was met

 private:
  std::string link(const manual::WordEntry& entry, std::string_view text);

  std::vector<manual::WordEntry> met_;  // each once, in the order of the page
};

}  // namespace loaderscope
