#include "base/secret.h"

#include <algorithm>
#include <array>

namespace loaderscope {
namespace {

constexpr std::string_view kHidden = "***";

// In small letters: of signed URLs, and of those that carry a key.
constexpr std::array<std::string_view, 9> kSecretNames = {"x-amz-signature",
                                                          "x-amz-credential",
                                                          "x-amz-security-token",
                                                          "x-goog-signature",
                                                          "signature",
                                                          "sig",
                                                          "token",
                                                          "access_token",
                                                          "api_key"};

bool is_secret_name(std::string_view name) {
  return std::any_of(kSecretNames.begin(), kSecretNames.end(), [&](std::string_view known) {
    return std::equal(name.begin(), name.end(), known.begin(), known.end(), [](char a, char b) {
      return (a >= 'A' && a <= 'Z' ? static_cast<char>(a - 'A' + 'a') : a) == b;
    });
  });
}

// "user:password@host" as "***@host".
std::string without_password(std::string_view server) {
  const auto at = server.rfind('@');
  return at == server.npos ? std::string(server)
                           : std::string(kHidden) + std::string(server.substr(at));
}

// "a=1&sig=2" as "a=1&sig=***"; a value may be a URL itself.
std::string without_signature(std::string_view text) {
  std::string shown;
  while (!text.empty()) {
    const auto end = std::min(text.find_first_of("?&", 1), text.size());
    const std::string_view word = text.substr(0, end);
    const auto equals = std::min(word.find('='), word.size());
    const std::string_view name = word.substr(std::min<std::size_t>(1, equals), equals - 1);
    shown += equals < word.size() && is_secret_name(name)
                 ? std::string(word.substr(0, equals + 1)) + std::string(kHidden)
                 : without_secrets(word);
    text.remove_prefix(end);
  }
  return shown;
}

}  // namespace

std::string without_secrets(std::string_view text) {
  constexpr std::string_view kBehindScheme = "://";
  std::string shown;
  for (;;) {
    const auto scheme = text.find(kBehindScheme);
    if (scheme == text.npos) return shown + std::string(text);
    const auto server = scheme + kBehindScheme.size();
    const auto slash = std::min(text.find_first_of("/?# \n", server), text.size());
    const auto end = std::min(text.find_first_of(" \n", slash), text.size());
    const auto query = std::min({text.find('?', slash), end});
    shown += text.substr(0, server);
    shown += without_password(text.substr(server, slash - server));
    shown += text.substr(slash, query - slash);
    shown += without_signature(text.substr(query, end - query));
    text.remove_prefix(end);
  }
}

bool holds_secret(std::string_view text) { return without_secrets(text) != text; }

}  // namespace loaderscope
