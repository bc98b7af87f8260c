// Text of others within Markdown.
#pragma once

#include <string>
#include <string_view>

namespace loaderscope {

// Markup in a path or a note must not become markup of ours, nor its control characters drive a
// terminal.
std::string in_markdown(std::string_view text);

}  // namespace loaderscope
