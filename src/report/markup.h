// Text of others within Markdown.
#pragma once

#include <string>
#include <string_view>

namespace loaderscope {

// Markup in a path or a note must not become markup of ours, nor its control characters drive a
// terminal. Words that a site would make a link of, or that name one of its users, are code.
std::string in_markdown(std::string_view text);

// Returns code within a line; "" for "". The content cannot end it. Not for cells, which a "|"
// ends.
std::string code_span(std::string_view text);

// Returns lines of a shell as a code block. The content cannot end it.
std::string shell_block(std::string_view text);

}  // namespace loaderscope
