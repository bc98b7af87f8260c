// An error as a user reads it: one sentence, and one line with what to do.
#pragma once

#include <string>

namespace loaderscope {

// "X: unknown flag; did you mean '--steps'?" as
//   loaderscope: X: unknown flag
//   hint: did you mean '--steps'?
// The advice is what follows "\nhint: ", or the last clause if it begins with a verb that asks for
// an action. Control characters are escaped.
std::string error_text(const std::string& message);

}  // namespace loaderscope
