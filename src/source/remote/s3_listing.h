// Response of an object store with the objects of a prefix: ListObjectsV2.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace loaderscope::source {

struct S3Listing {
  std::vector<std::string> keys, prefixes;  // prefixes end with '/'
  std::string continuation;                 // "": the listing is complete
};

// Throws ValueError, which continues "PATH: ".
S3Listing parse_s3_listing(std::string_view xml);

}  // namespace loaderscope::source
