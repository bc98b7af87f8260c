#include "base/secret.h"

#include <algorithm>
#include <array>
#include <utility>

namespace loaderscope {
namespace {

constexpr std::string_view kHidden = "***";

// Ends of the names of values in signed URLs and in URLs that carry a key, in small letters without
// '-', '_' and '.': x-amz-signature, X-Goog-Credential, x-oss-security-token, AWSAccessKeyId,
// auth_token, client_secret.
constexpr std::array<std::string_view, 15> kSecretEnds = {
    "signature", "credential", "credentials", "token",     "secret",
    "password",  "passwd",     "apikey",      "accesskey", "accesskeyid",
    "secretkey", "privatekey", "keypairid",   "accessid",  "authorization"};
// Whole names. They are too short or too common for a text that is no URL. q-ak and the like are
// of Tencent's COS, hdnea and hdnts of Akamai, sig of Azure.
constexpr std::array<std::string_view, 12> kSecretNames = {
    "sig", "key", "policy", "auth", "pass", "pwd", "jwt", "sas", "hmac", "qak", "hdnea", "hdnts"};

// Without what separates its words, in small letters.
std::string folded_name(std::string_view name) {
  std::string folded;
  for (const char c : name) {
    if (c >= 'A' && c <= 'Z')
      folded += static_cast<char>(c - 'A' + 'a');
    else if (c != '-' && c != '_' && c != '.')
      folded += c;
  }
  return folded;
}

bool ends_as_secret(std::string_view folded) {
  return std::any_of(kSecretEnds.begin(), kSecretEnds.end(),
                     [&](std::string_view end) { return folded.ends_with(end); });
}

bool is_secret_name(std::string_view folded) {
  return ends_as_secret(folded) ||
         std::find(kSecretNames.begin(), kSecretNames.end(), folded) != kSecretNames.end();
}

// "user:password@host" as "***@host". `is_cut`: the text ends with it.
std::string without_password(std::string_view server, bool is_cut) {
  const auto at = server.rfind('@');
  if (at != server.npos) return std::string(kHidden) + std::string(server.substr(at));
  const auto colon = server.rfind(':');
  // Text after the colon: a port, or the part that was cut off within "user:password@host".
  const bool is_half = is_cut && colon != server.npos && !server.ends_with(']') &&
                       server.find_first_not_of("0123456789", colon + 1) != server.npos;
  return std::string(is_half ? kHidden : server);
}

// "a=1&sig=2" as "a=1&sig=***", for names that `is_secret` says; a value may be a URL itself.
template <class IsSecret, class Otherwise>
std::string without_values(std::string_view text, IsSecret is_secret, Otherwise otherwise) {
  std::string shown;
  while (!text.empty()) {
    const auto end = std::min(text.find_first_of("?&;#", 1), text.size());
    const std::string_view word = text.substr(0, end);
    const auto equals = std::min(word.find('='), word.size());
    const std::string_view name = word.substr(std::min<std::size_t>(1, equals), equals - 1);
    shown += equals < word.size() && is_secret(folded_name(name))
                 ? std::string(word.substr(0, equals + 1)) + std::string(kHidden)
                 : otherwise(word);
    text.remove_prefix(end);
  }
  return shown;
}

std::string hide_once(std::string_view text);

std::string without_signature(std::string_view text) {
  return without_values(text, is_secret_name, hide_once);
}

// A message may name the path and the query alone: "with url: /a?X-Amz-Signature=1 (Caused by".
std::string without_lone_signature(std::string_view text) {
  std::string shown;
  for (;;) {
    const auto query = text.find('?');
    if (query == text.npos) return shown + std::string(text);
    const auto end = std::min(text.find_first_of(" \n", query), text.size());
    shown += text.substr(0, query);
    shown += without_values(text.substr(query, end - query), ends_as_secret,
                            [](std::string_view word) { return std::string(word); });
    text.remove_prefix(end);
  }
}

std::string hide_once(std::string_view text) {
  constexpr std::string_view kBehindScheme = "://";
  std::string shown;
  for (;;) {
    const auto scheme = text.find(kBehindScheme);
    if (scheme == text.npos) return shown + without_lone_signature(text);
    const auto server = scheme + kBehindScheme.size();
    const auto slash = std::min(text.find_first_of("/?# \n", server), text.size());
    const auto end = std::min(text.find_first_of(" \n", slash), text.size());
    const auto query = std::min(text.find_first_of("?#", slash), end);
    shown += without_lone_signature(text.substr(0, scheme));
    shown += kBehindScheme;
    shown += without_password(text.substr(server, slash - server), slash == text.size());
    shown += text.substr(slash, query - slash);
    shown += without_signature(text.substr(query, end - query));
    text.remove_prefix(end);
  }
}

}  // namespace

// Hiding one secret may leave the name of another: it reads again until nothing changes.
std::string without_secrets(std::string_view text) {
  constexpr int kMaxPasses = 16;
  std::string shown(text);
  for (int pass = 0; pass < kMaxPasses; ++pass) {
    std::string next = hide_once(shown);
    if (next == shown) break;
    shown = std::move(next);
  }
  return shown;
}

bool holds_secret(std::string_view text) { return without_secrets(text) != text; }

}  // namespace loaderscope
