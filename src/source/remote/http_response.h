// Responses of a server: their headers, and the listing of an object store.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "loaderscope/errors.h"
#include "loaderscope/units.h"
#include "source/index.h"

namespace loaderscope::source {

// Parsed headers. A missing or malformed header is empty.
struct HttpResponse {
  int status = 0;
  std::optional<Bytes> length;  // bytes of the body
  // bytes of a partial response: [begin, end)
  std::optional<Bytes> range_begin, range_end, object_bytes;
  std::optional<double> retry_after;  // seconds
  std::string tag, changed;           // ETag, Last-Modified
  std::string code;                   // error code of S3: "SlowDown"

  // Parses one received line. A status line begins a new response.
  void take_header(std::string_view line);
  // Parses the begin of a body with an error.
  void take_reason(std::string_view body);
  FolderStamp stamp() const;  // version of the object
  // Returns the header that requests an object only if it has changed; "": the server sends no
  // version.
  std::string unless_same() const;
};

// A failure, and whether it may be transient.
struct Trouble {
  SampleError::Kind kind;
  std::string what;  // text after "PATH: "
  bool may_pass = false;
};

// Describes a response that is not a success. For S3, the text names the origin of the key.
Trouble trouble_of_status(const HttpResponse& answer, bool is_s3);

// Response of an object store with the objects of a prefix: ListObjectsV2.
struct S3Listing {
  std::vector<std::string> keys, prefixes;  // prefixes end with '/'
  std::string continuation;                 // "": the listing is complete
};

// Throws ValueError, which continues "PATH: ".
S3Listing parse_s3_listing(std::string_view xml);

}  // namespace loaderscope::source
