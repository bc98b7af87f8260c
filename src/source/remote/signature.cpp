#include "source/remote/signature.h"

#include <fmt/format.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>

#include <array>
#include <string_view>

namespace loaderscope::source {
namespace {

constexpr std::string_view kScope = "s3/aws4_request";
// Hash of no bytes.
constexpr std::string_view kEmptyBody =
    "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

std::string hex(std::string_view bytes) {
  std::string text;
  for (const char byte : bytes)
    text += fmt::format("{:02x}", static_cast<unsigned>(static_cast<unsigned char>(byte)));
  return text;
}

std::string sha256(std::string_view text) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned size = 0;
  EVP_Digest(text.data(), text.size(), digest.data(), &size, EVP_sha256(), nullptr);
  return {reinterpret_cast<const char*>(digest.data()), size};
}

Secret keyed(const Secret& key, std::string_view text) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned size = 0;
  HMAC(EVP_sha256(), key.exposed().data(), static_cast<int>(key.exposed().size()),
       reinterpret_cast<const unsigned char*>(text.data()), text.size(), digest.data(), &size);
  return Secret(std::string(reinterpret_cast<const char*>(digest.data()), size));
}

std::string time_text(std::time_t now) {
  std::tm parts{};
  ::gmtime_r(&now, &parts);
  std::array<char, 32> text{};
  const std::size_t size = std::strftime(text.data(), text.size(), "%Y%m%dT%H%M%SZ", &parts);
  return {text.data(), size};
}

}  // namespace

std::string percent_encoded(std::string_view text, bool keeps_slash) {
  constexpr std::string_view kPlain =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.~";
  std::string encoded;
  for (const char byte : text) {
    if (kPlain.find(byte) != kPlain.npos || (keeps_slash && byte == '/'))
      encoded += byte;
    else
      encoded += fmt::format("%{:02X}", static_cast<unsigned>(static_cast<unsigned char>(byte)));
  }
  return encoded;
}

std::vector<Secret> signature_headers(const SignedRequest& request, const AwsSettings& settings,
                                      std::time_t now) {
  if (settings.key_id.empty()) return {};
  const std::string time = time_text(now), day = time.substr(0, 8);
  std::string headers = fmt::format("host:{}\nx-amz-content-sha256:{}\nx-amz-date:{}\n",
                                    request.host, kEmptyBody, time);
  std::string names = "host;x-amz-content-sha256;x-amz-date";
  if (!settings.session_token.empty()) {
    headers += "x-amz-security-token:" + settings.session_token.exposed() + "\n";
    names += ";x-amz-security-token";
  }
  const Secret canonical(fmt::format("GET\n{}\n{}\n{}\n{}\n{}", request.path, request.query,
                                     headers, names, kEmptyBody));
  const std::string scope = fmt::format("{}/{}/{}", day, settings.region, kScope);
  const std::string to_sign =
      fmt::format("AWS4-HMAC-SHA256\n{}\n{}\n{}", time, scope, hex(sha256(canonical.exposed())));
  Secret key = keyed(Secret("AWS4" + settings.key.exposed()), day);
  for (const std::string_view part : {std::string_view(settings.region), std::string_view("s3"),
                                      std::string_view("aws4_request")})
    key = keyed(key, part);
  std::vector<Secret> all;
  all.emplace_back(fmt::format(
      "Authorization: AWS4-HMAC-SHA256 Credential={}/{}, SignedHeaders={}, Signature={}",
      settings.key_id, scope, names, hex(keyed(key, to_sign).exposed())));
  all.emplace_back("x-amz-date: " + time);
  all.emplace_back(fmt::format("x-amz-content-sha256: {}", kEmptyBody));
  if (!settings.session_token.empty())
    all.emplace_back("x-amz-security-token: " + settings.session_token.exposed());
  return all;
}

}  // namespace loaderscope::source
