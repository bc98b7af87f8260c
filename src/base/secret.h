// Secrets, which no message, file, log or timeline may show.
#pragma once

#include <cstddef>
#include <iosfwd>
#include <string>
#include <string_view>
#include <utility>

namespace loaderscope {

// Text that is never printed or converted implicitly. Its memory is wiped at the end.
class Secret {
 public:
  Secret() = default;
  explicit Secret(std::string text) : text_(std::move(text)) {}
  Secret(const Secret&) = default;
  Secret& operator=(const Secret&) = default;
  Secret(Secret&& other) noexcept : text_(std::exchange(other.text_, {})) {}
  Secret& operator=(Secret&& other) noexcept {
    std::swap(text_, other.text_);
    return *this;
  }
  ~Secret() {
    for (volatile char& letter : text_) letter = '\0';
  }

  bool empty() const { return text_.empty(); }
  // Returns the text, only to send it to a server or to compute with it.
  const std::string& exposed() const { return text_; }

 private:
  std::string text_;
};

std::ostream& operator<<(std::ostream&, const Secret&) = delete;

// Replaces passwords of URLs in the text, and signatures and keys of their queries, by "***".
std::string without_secrets(std::string_view text);
bool holds_secret(std::string_view text);

// SHA-256 (FIPS 180-4) and the message code based on it (HMAC, RFC 2104). OpenSSL is optional, and
// the portable program lacks it.

// Returns 32 bytes, not printable.
std::string sha256(std::string_view bytes);
std::string hmac_sha256(const Secret& key, std::string_view message);

std::string hex_text(std::string_view bytes);

// Takes the same time for every difference, so that a stranger cannot guess a code byte by byte.
bool are_same_code(std::string_view one, std::string_view other);

// Returns bytes that no other process can guess. Throws RunError if the kernel has none.
std::string random_bytes(std::size_t count);

}  // namespace loaderscope
