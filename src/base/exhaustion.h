// Errors because the machine has run out of a resource. The arguments of the call are correct, and
// another sample or file would fail too.
#pragma once

#include <string>
#include <system_error>

namespace loaderscope {

// Returns a fix for `error` (EMFILE, ENFILE, EAGAIN, ENOMEM); "" for other errors.
std::string exhaustion_hint(int error);

// Returns a sentence for an error of the C++ library that lacks a thread or a descriptor; "" for
// other errors.
std::string shortage_sentence(const std::system_error& error);

}  // namespace loaderscope
