// What the manual says of the words of an answer, on the page that shows it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "manual/words.h"

namespace loaderscope {

class GlossaryLinks {
 public:
  // As HTML. Findings and gaps lead to what they rest on; of a line about the whys these do.
  std::string in_prose(std::string_view text, bool is_of_whys = false);
  // A cell that is a cause or a metric likewise.
  std::string in_cell(std::string_view text);

  std::string section() const;  // to which they lead; "" where none was met

 private:
  std::string link(const manual::WordEntry& entry, std::string_view text);

  std::vector<manual::WordEntry> met_;  // each once, in the order of the page
};

}  // namespace loaderscope
