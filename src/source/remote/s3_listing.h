// What an object store answers to "which objects begin so": ListObjectsV2.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace loaderscope::source {

struct S3Listing {
  std::vector<std::string> keys, prefixes;  // prefixes end with '/'
  std::string continuation;                 // "": these are all
};

// Throws ValueError, as it continues "PATH: ".
S3Listing parse_s3_listing(std::string_view xml);

}  // namespace loaderscope::source
