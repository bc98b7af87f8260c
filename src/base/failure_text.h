// Sentences about processes that ended, and about resources that ran out.
#pragma once

#include <string>
#include <system_error>

namespace loaderscope {

// Errors because the machine has run out of a resource. The arguments of the call are correct, and
// another sample or file would fail too.

// Returns a fix for `error` (EMFILE, ENFILE, EAGAIN, ENOMEM); "" for other errors.
std::string exhaustion_hint(int error);

// Returns a sentence for an error of the C++ library that lacks a thread or a descriptor; "" for
// other errors.
std::string shortage_sentence(const std::system_error& error);

// Describes a status of waitpid(): "was killed by signal 9 (SIGKILL)", "ended with exit code 3".
std::string describe_exit(int status);

}  // namespace loaderscope
