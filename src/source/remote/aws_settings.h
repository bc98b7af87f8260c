// Credentials and address of an object store with the S3 protocol. They come from the environment,
// or else from a profile in the user's folder, as for Amazon's own programs.
#pragma once

#include <functional>
#include <string>

#include "base/secret.h"

namespace loaderscope::source {

struct AwsSettings {
  std::string key_id;  // "": anonymous, for public buckets
  Secret key, session_token;
  std::string region = "us-east-1";
  std::string endpoint;  // "https://s3.us-east-1.amazonaws.com", without a final '/'
  std::string origin;    // origin of the key: "the environment", "profile 'x'", "nowhere"
};

// `variable` returns the value of a variable of the environment, or null if it is not set.
AwsSettings read_aws_settings(const std::function<const char*(const char*)>& variable);
// Settings of this process, read once.
const AwsSettings& aws_settings();

}  // namespace loaderscope::source
