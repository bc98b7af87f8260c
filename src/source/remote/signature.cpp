#include "source/remote/signature.h"

#include <fmt/format.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>

#include <array>
#include <cstdlib>
#include <fstream>
#include <map>
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

namespace {

using Variable = std::function<const char*(const char*)>;

constexpr std::size_t kMaxProfiles = 1 << 20;  // bytes of a file that are looked at

std::string trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(" \t\r");
  if (first == text.npos) return "";
  return std::string(text.substr(first, text.find_last_not_of(" \t\r") - first + 1));
}

// The "name = value" lines of one [section]; none where it is not there.
std::map<std::string, std::string> read_section(const std::string& path, const std::string& name) {
  std::map<std::string, std::string> values;
  std::ifstream file(path);
  bool is_it = false;
  std::size_t bytes = 0;
  for (std::string line; std::getline(file, line) && bytes < kMaxProfiles;) {
    bytes += line.size() + 1;
    const std::string text = trimmed(line);
    if (text.starts_with('#') || text.starts_with(';')) continue;
    if (text.starts_with('[')) {
      is_it = trimmed(std::string_view(text).substr(1, text.find(']') - 1)) == name;
      continue;
    }
    const auto equals = text.find('=');
    if (is_it && equals != text.npos)
      values[trimmed(std::string_view(text).substr(0, equals))] =
          trimmed(std::string_view(text).substr(equals + 1));
  }
  return values;
}

class Sources {
 public:
  explicit Sources(const Variable& variable) : variable_(variable) {
    profile_ = text("AWS_PROFILE", "default");
    const std::string home = text("HOME", "");
    if (home.empty()) return;
    keys_ = read_section(text("AWS_SHARED_CREDENTIALS_FILE", home + "/.aws/credentials"), profile_);
    config_ = read_section(text("AWS_CONFIG_FILE", home + "/.aws/config"),
                           profile_ == "default" ? profile_ : "profile " + profile_);
  }

  std::string text(const char* name, const std::string& otherwise) const {
    const char* value = variable_(name);
    return value != nullptr && *value != '\0' ? value : otherwise;
  }
  std::string profile_value(const std::string& name) const {
    for (const auto* section : {&keys_, &config_}) {
      const auto found = section->find(name);
      if (found != section->end()) return found->second;
    }
    return "";
  }
  const std::string& profile() const { return profile_; }

 private:
  const Variable& variable_;
  std::string profile_;
  std::map<std::string, std::string> keys_, config_;
};

void read_keys(const Sources& from, AwsSettings& to) {
  to.key_id = from.text("AWS_ACCESS_KEY_ID", "");
  to.key = Secret(from.text("AWS_SECRET_ACCESS_KEY", ""));
  to.session_token = Secret(from.text("AWS_SESSION_TOKEN", ""));
  to.origin = "the environment";
  if (!to.key_id.empty() && !to.key.empty()) return;
  to.key_id = from.profile_value("aws_access_key_id");
  to.key = Secret(from.profile_value("aws_secret_access_key"));
  to.session_token = Secret(from.profile_value("aws_session_token"));
  to.origin = "profile '" + from.profile() + "'";
  if (!to.key_id.empty() && !to.key.empty()) return;
  to.key_id.clear();
  to.origin = "nowhere";
}

}  // namespace

AwsSettings read_aws_settings(const Variable& variable) {
  const Sources from(variable);
  AwsSettings settings;
  read_keys(from, settings);
  const std::string region = from.profile_value("region");
  settings.region = from.text(
      "AWS_REGION", from.text("AWS_DEFAULT_REGION", region.empty() ? "us-east-1" : region));
  settings.endpoint = from.text("AWS_ENDPOINT_URL_S3",
                                from.text("AWS_ENDPOINT_URL", from.profile_value("endpoint_url")));
  if (settings.endpoint.empty())
    settings.endpoint = "https://s3." + settings.region + ".amazonaws.com";
  while (settings.endpoint.ends_with('/')) settings.endpoint.pop_back();
  return settings;
}

const AwsSettings& aws_settings() {
  static const AwsSettings settings =
      read_aws_settings([](const char* name) -> const char* { return std::getenv(name); });
  return settings;
}

}  // namespace loaderscope::source
