// Headers of a server's response.
#pragma once

#include <optional>
#include <string>
#include <string_view>

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

}  // namespace loaderscope::source
