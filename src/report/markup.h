// Text of others within Markdown.
#pragma once

#include <string>
#include <string_view>

namespace loaderscope {

// Escapes text, so that a path or a note cannot add markup, or control a terminal. Words that a
// site would turn into a link or a user's name become code.
std::string in_markdown(std::string_view text);

// Returns code within a line; "" for "". The content cannot end it. Not for cells, which a "|"
// ends.
std::string code_span(std::string_view text);

// Returns lines of a shell as a code block. The content cannot end it.
std::string shell_block(std::string_view text);

}  // namespace loaderscope
