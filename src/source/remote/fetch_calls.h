// Callbacks of libcurl while a request runs. `user` is the Fetch.
#pragma once

#include <curl/curl.h>

#include <cstddef>
#include <string>
#include <string_view>

#include "source/remote/fetcher.h"

namespace loaderscope::source {

inline constexpr long kMaxRedirects = 5;

struct FetchCalls {
  static std::size_t header(char* line, std::size_t size, std::size_t count, void* user);
  static std::size_t body(char* bytes, std::size_t size, std::size_t count, void* user);
  static int progress(void* user, curl_off_t, curl_off_t, curl_off_t, curl_off_t);

 private:
  static std::size_t reason(Fetch& fetch, std::string_view text);
  static bool refuse(Fetch& fetch, SampleError::Kind kind, std::string why);
  static bool begin(Fetch& fetch);
  static bool is_range_asked_for(const Fetch& fetch);
  static bool grow(Fetch& fetch, std::size_t more);
};

}  // namespace loaderscope::source
