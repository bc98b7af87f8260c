// What a server answers, before its bytes.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "loaderscope/errors.h"
#include "loaderscope/units.h"
#include "source/index.h"

namespace loaderscope::source {

// Of a header that was not there, or not to be understood: nothing.
struct HttpResponse {
  int status = 0;
  std::optional<Bytes> length;                                // of the body
  std::optional<Bytes> range_begin, range_end, object_bytes;  // of a part: [begin, end)
  std::optional<double> retry_after;                          // seconds
  std::string tag, changed;                                   // ETag, Last-Modified
  std::string code;                                           // "SlowDown": of S3

  // A line as it comes over the line; a status line begins a new answer.
  void take_header(std::string_view line);
  // The beginning of a body that says what is wrong.
  void take_reason(std::string_view body);
  FolderStamp stamp() const;  // by which the object is known as unchanged
  // The header that asks for an object only if it is another one; "": the server tells nothing to
  // know it by.
  std::string unless_same() const;
};

// What went wrong, and whether it may go right another time.
struct Trouble {
  SampleError::Kind kind;
  std::string what;  // as it continues "PATH: "
  bool may_pass = false;
};

// Of an answer that is no success; of a store that speaks S3 it is said whose the key is.
Trouble trouble_of_status(const HttpResponse& answer, bool is_s3);

}  // namespace loaderscope::source
