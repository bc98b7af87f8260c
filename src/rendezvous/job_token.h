// The token that the processes of a job share, and that no one else knows.
#pragma once

#include <string>

#include "base/secret.h"
#include "rendezvous/process_address.h"

namespace loaderscope {

inline constexpr const char* kTokenVariable = "LOADERSCOPE_TOKEN";

// Returns the text of kTokenVariable, else of the file "job-token" of `folder`, which is made with
// a random text if it is missing. Hosts that share the user's home folder need nothing more. Throws
// UsageError if the variable is too short to be a secret, or if there is neither; RunError if the
// file is not this user's alone.
Secret job_token(const Variable& variable, const std::string& folder);

}  // namespace loaderscope
