// Credentials for an object store with the S3 protocol, and Signature Version 4 of requests to it.
#pragma once

#include <ctime>
#include <functional>
#include <string>
#include <vector>

#include "base/secret.h"

namespace loaderscope::source {

// Credentials and address of an object store with the S3 protocol. They come from the environment,
// or else from a profile in the user's folder, as for Amazon's own programs.
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

// A GET without a body, as it goes over the line.
struct SignedRequest {
  std::string host;   // with the port, where it is not the scheme's own
  std::string path;   // encoded
  std::string query;  // encoded, its names in their order; ""
};

// The headers that go with it, "Name: value"; none without a key.
std::vector<Secret> signature_headers(const SignedRequest& request, const AwsSettings& settings,
                                      std::time_t now);

// Each byte but letters, digits and -_.~ as %XX; '/' stays where that is asked for.
std::string percent_encoded(std::string_view text, bool keeps_slash);

}  // namespace loaderscope::source
