// Signature Version 4 of requests to S3.
#pragma once

#include <ctime>
#include <string>
#include <vector>

#include "base/secret.h"
#include "source/remote/aws_settings.h"

namespace loaderscope::source {

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
