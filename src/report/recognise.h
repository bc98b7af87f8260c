// Files that we have written, told from those of others.
#pragma once

#include <string_view>

namespace loaderscope {

// Whether a file that begins so is a result or a report that one of the commands has saved, other
// than a table, which is plain text.
bool is_result_of_ours(std::string_view beginning);

}  // namespace loaderscope
