// SHA-256 (FIPS 180-4) and the message code based on it (HMAC, RFC 2104). OpenSSL is optional, and
// the portable program lacks it.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/secret.h"

namespace loaderscope {

// Returns 32 bytes, not printable.
std::string sha256(std::string_view bytes);
std::string hmac_sha256(const Secret& key, std::string_view message);

std::string hex_of(std::string_view bytes);

// Takes the same time for every difference, so that a stranger cannot guess a code byte by byte.
bool are_same_code(std::string_view one, std::string_view other);

// Returns bytes that no other process can guess. Throws RunError if the kernel has none.
std::string random_bytes(std::size_t count);

}  // namespace loaderscope
