// Text of others within Markdown.
#pragma once

#include <string>
#include <string_view>

namespace loaderscope {

// Markup in a path or a note must not become markup of ours, nor its control characters drive a
// terminal. Words that a site would make a link of, or that name one of its users, are code.
std::string in_markdown(std::string_view text);

// As code within a line; "" of nothing. Nothing within it ends it. Not for cells: a "|" ends those.
std::string code_span(std::string_view text);

// As lines of a shell, likewise.
std::string shell_block(std::string_view text);

}  // namespace loaderscope
