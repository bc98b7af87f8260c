// The default answer as HTML, for the first screen of a page.
#pragma once

#include <string>
#include <string_view>

#include "report/answer/answer.h"
#include "report/glossary_links.h"

namespace loaderscope {

std::string_view tone_class(LineTone tone);  // class of page.css

// Links the words of the glossary. A number and its % stay on one line.
std::string page_prose(std::string_view text, GlossaryLinks& words, bool is_of_whys = false);

// Returns who waits, what to change and the gain. `picture` may be "".
std::string html_of_answer(const Answer& answer, const std::string& picture, GlossaryLinks& words);

}  // namespace loaderscope
