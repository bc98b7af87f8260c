// An error as a user reads it: one sentence, and one line with what to do.
#pragma once

#include <string>

#include "loaderscope/errors.h"

namespace loaderscope {

// Returns the sentence and the hint of an error as
//   loaderscope: X: unknown flag
//   hint: did you mean '--steps'?
// Control characters are escaped.
std::string error_text(const Error& error);

// Returns the same for a message without a hint. Its last clause becomes the hint if it begins with
// a verb that asks for an action.
std::string error_text(const std::string& message);

}  // namespace loaderscope
