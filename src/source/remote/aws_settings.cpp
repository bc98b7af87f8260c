#include "source/remote/aws_settings.h"

#include <cstdlib>
#include <fstream>
#include <map>
#include <string_view>

namespace loaderscope::source {
namespace {

using Variable = std::function<const char*(const char*)>;

constexpr std::size_t kMaxProfiles = 1 << 20;  // bytes of a file that are looked at

std::string trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(" \t\r");
  if (first == text.npos) return "";
  return std::string(text.substr(first, text.find_last_not_of(" \t\r") - first + 1));
}

// The "name = value" lines of one [section]; none where it is not there.
std::map<std::string, std::string> section_of(const std::string& path, const std::string& name) {
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
    keys_ = section_of(text("AWS_SHARED_CREDENTIALS_FILE", home + "/.aws/credentials"), profile_);
    config_ = section_of(text("AWS_CONFIG_FILE", home + "/.aws/config"),
                         profile_ == "default" ? profile_ : "profile " + profile_);
  }

  std::string text(const char* name, const std::string& otherwise) const {
    const char* value = variable_(name);
    return value != nullptr && *value != '\0' ? value : otherwise;
  }
  std::string of_profile(const std::string& name) const {
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
  to.key_id = from.of_profile("aws_access_key_id");
  to.key = Secret(from.of_profile("aws_secret_access_key"));
  to.session_token = Secret(from.of_profile("aws_session_token"));
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
  const std::string region = from.of_profile("region");
  settings.region = from.text(
      "AWS_REGION", from.text("AWS_DEFAULT_REGION", region.empty() ? "us-east-1" : region));
  settings.endpoint = from.text("AWS_ENDPOINT_URL_S3",
                                from.text("AWS_ENDPOINT_URL", from.of_profile("endpoint_url")));
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
