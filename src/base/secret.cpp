#include "base/secret.h"

#include <sys/random.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <cstdint>
#include <cstring>

#include "loaderscope/errors.h"

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
  constexpr std::string_view kSchemeEnd = "://";
  std::string shown;
  for (;;) {
    const auto scheme = text.find(kSchemeEnd);
    if (scheme == text.npos) return shown + without_lone_signature(text);
    const auto server = scheme + kSchemeEnd.size();
    const auto slash = std::min(text.find_first_of("/?# \n", server), text.size());
    const auto end = std::min(text.find_first_of(" \n", slash), text.size());
    const auto query = std::min(text.find_first_of("?#", slash), end);
    shown += without_lone_signature(text.substr(0, scheme));
    shown += kSchemeEnd;
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

namespace {

constexpr std::size_t kShaBlock = 64, kShaLengthBytes = 8;

// The first 32 bits of the fractions of the cube roots of the first 64 primes.
constexpr std::array<std::uint32_t, 64> kShaRounds = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

using ShaState = std::array<std::uint32_t, 8>;
// The first 32 bits of the fractions of the square roots of the first 8 primes.
constexpr ShaState kShaStart = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};

std::uint32_t word_at(const char* bytes) {
  std::uint32_t word = 0;
  for (int i = 0; i < 4; ++i) word = word << 8 | static_cast<unsigned char>(bytes[i]);
  return word;
}

void add_block(ShaState& state, const char* block) {
  std::array<std::uint32_t, 64> w{};
  for (std::size_t i = 0; i < 16; ++i) w[i] = word_at(block + 4 * i);
  for (std::size_t i = 16; i < 64; ++i) {
    const std::uint32_t a = w[i - 15], b = w[i - 2];
    w[i] = w[i - 16] + (std::rotr(a, 7) ^ std::rotr(a, 18) ^ a >> 3) + w[i - 7] +
           (std::rotr(b, 17) ^ std::rotr(b, 19) ^ b >> 10);
  }
  auto [a, b, c, d, e, f, g, h] = state;
  for (std::size_t i = 0; i < 64; ++i) {
    const std::uint32_t one = h + (std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25)) +
                              ((e & f) ^ (~e & g)) + kShaRounds[i] + w[i];
    const std::uint32_t two =
        (std::rotr(a, 2) ^ std::rotr(a, 13) ^ std::rotr(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
    h = g, g = f, f = e, e = d + one, d = c, c = b, b = a, a = one + two;
  }
  const ShaState more = {a, b, c, d, e, f, g, h};
  for (std::size_t i = 0; i < state.size(); ++i) state[i] += more[i];
}

void append_number(std::string& bytes, std::uint64_t number, std::size_t size) {
  for (std::size_t i = size; i-- > 0;) bytes += static_cast<char>(number >> (8 * i) & 0xFF);
}

}  // namespace

std::string sha256(std::string_view bytes) {
  ShaState state = kShaStart;
  const std::size_t whole = bytes.size() / kShaBlock * kShaBlock;
  for (std::size_t at = 0; at < whole; at += kShaBlock) add_block(state, bytes.data() + at);
  std::string last(bytes.substr(whole));
  last += static_cast<char>(0x80);
  while (last.size() % kShaBlock != kShaBlock - kShaLengthBytes) last += '\0';
  append_number(last, 8 * static_cast<std::uint64_t>(bytes.size()), kShaLengthBytes);
  for (std::size_t at = 0; at < last.size(); at += kShaBlock) add_block(state, last.data() + at);
  std::string digest;
  for (const std::uint32_t word : state) append_number(digest, word, 4);
  return digest;
}

std::string hmac_sha256(const Secret& key, std::string_view message) {
  constexpr char kInner = 0x36, kOuter = 0x5c;
  std::string block = key.exposed().size() > kShaBlock ? sha256(key.exposed()) : key.exposed();
  block.resize(kShaBlock, '\0');
  std::string inner = block, outer = block;
  for (char& byte : inner) byte = static_cast<char>(byte ^ kInner);
  for (char& byte : outer) byte = static_cast<char>(byte ^ kOuter);
  return sha256(outer + sha256(inner.append(message)));
}

std::string hex_text(std::string_view bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  for (const char byte : bytes) {
    const auto number = static_cast<unsigned char>(byte);
    text += kDigits[number >> 4];
    text += kDigits[number & 0xF];
  }
  return text;
}

bool are_same_code(std::string_view one, std::string_view other) {
  if (one.size() != other.size()) return false;
  unsigned differs = 0;
  for (std::size_t i = 0; i < one.size(); ++i)
    differs |= static_cast<unsigned>(static_cast<unsigned char>(one[i] ^ other[i]));
  return differs == 0;
}

std::string random_bytes(std::size_t count) {
  std::string bytes(count, '\0');
  for (std::size_t got = 0; got < count;) {
    const ssize_t more = ::getrandom(bytes.data() + got, count - got, 0);
    if (more < 0 && errno == EINTR) continue;
    if (more <= 0)
      throw RunError(
          std::string("the kernel gives no random numbers (") + std::strerror(errno) + ")",
          "look at getrandom()");
    got += static_cast<std::size_t>(more);
  }
  return bytes;
}

}  // namespace loaderscope
