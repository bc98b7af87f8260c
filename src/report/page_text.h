// What is read of a result, as HTML.
#pragma once

#include <string>
#include <vector>

#include "report/page_words.h"
#include "report/screen.h"

namespace loaderscope {

// Those from `first` on, before `end`. Rows that follow each other are one table; a header begins
// the next. `pictures`: those of the page, which lines link to, as words do to what they rest on.
std::string html_of(const std::vector<Screen::Item>& items, std::size_t first, std::size_t end,
                    const std::string& pictures, PageWords& words);

}  // namespace loaderscope
