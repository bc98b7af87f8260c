// Location of an object on a server, parsed from a path with a scheme.
#pragma once

#include <string>
#include <string_view>

namespace loaderscope::source {

struct Location {
  std::string base;   // "https://host:8080"
  std::string host;   // "host:8080"
  std::string path;   // encoded, from the first '/'
  std::string query;  // encoded; "": none
  bool is_s3 = false;
  // Only for an object store.
  std::string bucket, key, endpoint;

  std::string url() const { return base + path + (query.empty() ? "" : "?" + query); }
};

bool is_of_s3(std::string_view path);
// Throws ValueError, which continues "PATH: ".
Location locate(std::string_view path);

}  // namespace loaderscope::source
