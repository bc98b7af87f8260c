// Detection of files that loaderscope has written.
#pragma once

#include <string>
#include <string_view>

namespace loaderscope {

// Returns true if a file with this beginning is a result or a report of loaderscope. Tables are
// plain text and do not count.
bool is_result_of_ours(std::string_view beginning);

// Returns "loaderscope.run/1" for a JSON with this beginning; "" if loaderscope did not write it.
std::string_view find_schema(std::string_view beginning);

// Returns the part of a file that these functions need; "" if it cannot be read.
std::string read_beginning(const std::string& path);

}  // namespace loaderscope
