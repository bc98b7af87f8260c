// Text of others within the markup of a page or a report.
#pragma once

#include <string>
#include <string_view>

namespace loaderscope {

// Escapes text, so that a path or a note cannot add markup, or control a terminal.
std::string escape_xml(std::string_view text);

// Escapes a JSON document for a script element, so that no part of it closes the element.
std::string escape_script(std::string_view json);

}  // namespace loaderscope
