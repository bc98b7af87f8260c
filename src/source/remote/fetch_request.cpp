// Request to a server for a range of an object.
#include <fmt/format.h>

#include <cstdlib>
#include <ctime>
#include <new>
#include <string_view>

#include "source/remote/fetch_calls.h"
#include "source/remote/location.h"
#include "source/remote/signature.h"

namespace loaderscope::source {
namespace {

template <class Value>
void set(CURL* easy, CURLoption option, Value value) {
  if (const CURLcode failed = ::curl_easy_setopt(easy, option, value); failed != CURLE_OK)
    throw RunError(std::string("libcurl: ") + ::curl_easy_strerror(failed));
}

// A file of the authorities that sign certificates, by the names that other programs heed; null:
// the system's own.
const char* authorities(bool is_s3) {
  for (const char* name : {"AWS_CA_BUNDLE", "CURL_CA_BUNDLE", "SSL_CERT_FILE"}) {
    const char* file = is_s3 || name[0] != 'A' ? std::getenv(name) : nullptr;
    if (file != nullptr && *file != '\0') return file;
  }
  return nullptr;
}

// Returns the proxy of HTTP_PROXY, which other programs use. libcurl ignores it, because clients
// can set it in a CGI program. Null: libcurl finds its proxy itself.
const char* proxy_in_capitals(std::string_view url) {
  if (!url.starts_with("http://") || std::getenv("REQUEST_METHOD") != nullptr) return nullptr;
  return std::getenv("http_proxy") == nullptr ? std::getenv("HTTP_PROXY") : nullptr;
}

}  // namespace

void Fetcher::set_up(Fetch& fetch, const Location& location) {
  // Each try has its own: of one that has spoken HTTP/2, libcurl 7.88 refuses options when it is
  // used again. Connections are the multi handle's.
  fetch.easy_.reset(::curl_easy_init());
  CURL* easy = fetch.easy_.get();
  if (easy == nullptr) throw std::bad_alloc();
  const std::string url = location.url();
  set(easy, CURLOPT_URL, url.c_str());
  if (const char* proxy = proxy_in_capitals(url)) set(easy, CURLOPT_PROXY, proxy);
  set(easy, CURLOPT_NOSIGNAL, 1L);
  set(easy, CURLOPT_PROTOCOLS_STR, "http,https");
  set(easy, CURLOPT_REDIR_PROTOCOLS_STR, url.starts_with("https") ? "https" : "http,https");
  // Signatures of an S3 request are valid for one address only.
  set(easy, CURLOPT_FOLLOWLOCATION, location.is_s3 ? 0L : 1L);
  set(easy, CURLOPT_MAXREDIRS, kMaxRedirects);
  if (!location.is_s3) set(easy, CURLOPT_NETRC, static_cast<long>(CURL_NETRC_OPTIONAL));
  if (const char* file = authorities(location.is_s3)) set(easy, CURLOPT_CAINFO, file);
  set(easy, CURLOPT_USERAGENT, "loaderscope");
  set(easy, CURLOPT_PATH_AS_IS, 1L);
  set(easy, CURLOPT_TCP_NODELAY, 1L);
  set(easy, CURLOPT_BUFFERSIZE, 256L << 10);
  set(easy, CURLOPT_HTTP_VERSION, static_cast<long>(CURL_HTTP_VERSION_2TLS));
  set(easy, CURLOPT_HEADERFUNCTION, &FetchCalls::header);
  set(easy, CURLOPT_HEADERDATA, static_cast<void*>(&fetch));
  set(easy, CURLOPT_WRITEFUNCTION, &FetchCalls::body);
  set(easy, CURLOPT_WRITEDATA, static_cast<void*>(&fetch));
  set(easy, CURLOPT_NOPROGRESS, 0L);
  set(easy, CURLOPT_XFERINFOFUNCTION, &FetchCalls::progress);
  set(easy, CURLOPT_XFERINFODATA, static_cast<void*>(&fetch));
  set(easy, CURLOPT_PRIVATE, static_cast<void*>(&fetch));
  if (fetch.length_ != Extent::kToEnd) {
    const std::string range = fmt::format("{}-{}", fetch.begin_, fetch.begin_ + fetch.length_ - 1);
    set(easy, CURLOPT_RANGE, range.c_str());
  }
  if (!fetch.unless_same_.empty())
    fetch.headers_ = ::curl_slist_append(fetch.headers_, fetch.unless_same_.c_str());
  if (location.is_s3) {
    const SignedRequest request{location.host, location.path, location.query};
    for (const Secret& header : signature_headers(request, aws_settings(), std::time(nullptr)))
      fetch.headers_ = ::curl_slist_append(fetch.headers_, header.exposed().c_str());
  }
  set(easy, CURLOPT_HTTPHEADER, fetch.headers_);
}

}  // namespace loaderscope::source
