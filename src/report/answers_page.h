// Several answers on one page, each under a heading.
#pragma once

#include <ostream>
#include <span>
#include <string>

#include "loaderscope/report.h"

namespace loaderscope {

struct TitledResult {
  std::string heading;
  AnyResult result;  // always a run
};

// Writes the answers with the account of a step, and below them all pictures of `drawn`, which is a
// place in `results`. The page has no result for programs.
void write_answers_page(std::ostream& out, const std::string& title,
                        std::span<const TitledResult> results, std::size_t drawn);

}  // namespace loaderscope
