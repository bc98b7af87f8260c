// Files that we have written, told from those of others.
#pragma once

#include <string>
#include <string_view>

namespace loaderscope {

// Whether a file that begins so is a result or a report that one of the commands has saved, other
// than a table, which is plain text.
bool is_result_of_ours(std::string_view beginning);

// "loaderscope.run/1" of a JSON that begins so; "": it is no JSON of ours.
std::string_view schema_in(std::string_view beginning);

// As much of a file as these want to see; "" where it cannot be read.
std::string beginning_of(const std::string& path);

}  // namespace loaderscope
