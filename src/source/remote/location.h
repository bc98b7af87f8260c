// What a path with a scheme says: where a server has an object.
#pragma once

#include <string>
#include <string_view>

namespace loaderscope::source {

struct Location {
  std::string base;   // "https://host:8080"
  std::string host;   // "host:8080"
  std::string path;   // encoded, from the first '/' on
  std::string query;  // encoded; "": none
  bool is_s3 = false;
  // Of an object store.
  std::string bucket, key, endpoint;

  std::string url() const { return base + path + (query.empty() ? "" : "?" + query); }
};

bool is_of_s3(std::string_view path);
// Throws ValueError, as it continues "PATH: ".
Location locate(std::string_view path);

}  // namespace loaderscope::source
