// Who asks an object store that speaks S3, and where it is: from the environment, else from a
// profile in the user's folder, as Amazon's own programs have it.
#pragma once

#include <functional>
#include <string>

#include "base/secret.h"

namespace loaderscope::source {

struct AwsSettings {
  std::string key_id;  // "": nobody in particular, for buckets that anybody may read
  Secret key, session_token;
  std::string region = "us-east-1";
  std::string endpoint;  // "https://s3.us-east-1.amazonaws.com", without a '/' at the end
  std::string origin;    // of the key: "the environment", "profile 'x'", "nowhere"
};

// `variable` tells a variable of the environment, null where it is not set.
AwsSettings read_aws_settings(const std::function<const char*(const char*)>& variable);
// Of this process, read once.
const AwsSettings& aws_settings();

}  // namespace loaderscope::source
