// Calls that fail because the machine has too little of something: nothing is wrong with what they
// were about, and trying another sample or file would not help.
#pragma once

#include <string>
#include <system_error>

namespace loaderscope {

// Returns a fix for `error` (EMFILE, ENFILE, EAGAIN, ENOMEM); "" for other errors.
std::string exhaustion_hint(int error);

// A sentence about what the C++ library throws where it lacks a thread or a descriptor; "" where
// something else failed.
std::string shortage_sentence(const std::system_error& error);

}  // namespace loaderscope
