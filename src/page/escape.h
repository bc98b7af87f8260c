// Text of others within the markup of a page or a report.
#pragma once

#include <string>
#include <string_view>

namespace loaderscope {

// Markup in a path or a note must not become markup of ours, nor its control characters drive a
// terminal.
std::string in_xml(std::string_view text);

// A JSON document within the script element that holds it: nothing in it closes the element.
std::string in_script(std::string_view json);

}  // namespace loaderscope
