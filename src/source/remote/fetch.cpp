// One piece of an object on its way.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <new>
#include <string_view>
#include <utility>

#include "base/thread_meter.h"
#include "source/remote/fetch_calls.h"
#include "source/remote/location.h"
#include "source/remote/signature.h"

namespace loaderscope::source {
namespace {

using Why = SampleError::Kind;

constexpr std::size_t kReasonBytes = 2048;  // bytes of a body with an error

}  // namespace

void Fetch::aim(std::string path, Bytes begin, Bytes length) {
  path_ = std::move(path);
  where_.reset();
  begin_ = begin;
  length_ = length;
  state_ = State::idle;
  tries_ = 0;
  is_checked = was_kept_ = false;
  unless_same_.clear();
  error_.reset();
}

void Fetch::aim(Location where) {
  aim("", 0, Extent::kToEnd);
  where_ = std::move(where);
}

std::span<std::byte> Fetch::take_kept(std::size_t bytes) {
  room_ = buffer_.take(bytes);
  got_ = bytes;
  state_ = State::done;
  was_kept_ = true;
  return room_;
}

void Fetch::ask_unless_same(std::string header) {
  unless_same_ = std::move(header);
  to_prove_ = room_;
  was_kept_ = false;
  state_ = State::idle;
}

bool Fetch::is_the_same() const { return answer_.status == kNotModified && !unless_same_.empty(); }

std::size_t FetchCalls::header(char* line, std::size_t size, std::size_t count, void* user) {
  Fetch& fetch = *static_cast<Fetch*>(user);
  fetch.heard_ = monotonic_now();
  fetch.answer_.take_header({line, size * count});
  return size * count;
}

std::size_t FetchCalls::body(char* bytes, std::size_t size, std::size_t count, void* user) {
  Fetch& fetch = *static_cast<Fetch*>(user);
  const std::size_t more = size * count;
  fetch.heard_ = monotonic_now();
  try {
    if (fetch.answer_.status / 100 != 2) return reason(fetch, {bytes, more});
    if (fetch.got_ == 0 && !begin(fetch)) return 0;
    if (more > fetch.room_.size() - fetch.got_ && !grow(fetch, more)) return 0;
    std::memcpy(fetch.room_.data() + fetch.got_, bytes, more);
    fetch.got_ += more;
    if (fetch.came_ != nullptr) *fetch.came_ += static_cast<Bytes>(more);
    return more;
  } catch (const std::bad_alloc&) {
    fetch.refusal_.emplace(Why::too_large, "there is no memory for it");
    return 0;
  }
}

int FetchCalls::progress(void* user, curl_off_t, curl_off_t, curl_off_t, curl_off_t) {
  const std::atomic<int>* stop = static_cast<Fetch*>(user)->stop_;
  return stop != nullptr && stop->load(std::memory_order_relaxed) != 0 ? 1 : 0;
}

std::size_t FetchCalls::reason(Fetch& fetch, std::string_view text) {
  if (fetch.got_ < kReasonBytes) fetch.answer_.take_reason(text.substr(0, kReasonBytes));
  fetch.got_ += text.size();
  return fetch.got_ <= (std::size_t{1} << 20) ? text.size() : 0;
}

bool FetchCalls::refuse(Fetch& fetch, Why kind, std::string why) {
  fetch.refusal_.emplace(kind, std::move(why));
  return false;
}

// Checks the response against the request before memory is allocated.
bool FetchCalls::begin(Fetch& fetch) {
  const HttpResponse& answer = fetch.answer_;
  const bool whole = fetch.length_ == Extent::kToEnd;
  if (!whole && answer.status == 200)
    return refuse(fetch, Why::unsupported,
                  "the server sends the whole object where a part was asked for; parts of "
                  "objects need a server that knows ranges");
  if (!whole && !is_range_asked_for(fetch))
    return refuse(fetch, Why::damaged,
                  "the server sends other bytes than those that were asked for");
  const Bytes most = whole ? fetch.most_ : *answer.range_end - fetch.begin_;
  const Bytes size = answer.length.value_or(whole ? 0 : most);
  if (whole && size > most)
    return refuse(fetch, Why::too_large,
                  fmt::format("has {} bytes, more than the {} that a sample may have", size, most));
  if (!whole && size != most)
    return refuse(fetch, Why::damaged,
                  fmt::format("the server sends {} bytes and says that they are {}", size, most));
  fetch.room_ = fetch.buffer_.take(static_cast<std::size_t>(std::max<Bytes>(size, 1)));
  fetch.unless_same_.clear();  // the bytes are overwritten, so a truncated response must be
                               // requested again
  return true;
}

bool FetchCalls::is_range_asked_for(const Fetch& fetch) {
  const HttpResponse& answer = fetch.answer_;
  return answer.range_begin == fetch.begin_ && answer.range_end &&
         *answer.range_end <= fetch.begin_ + fetch.length_;
}

// Grows the buffer of a body without a declared length.
bool FetchCalls::grow(Fetch& fetch, std::size_t more) {
  const Bytes needed = static_cast<Bytes>(fetch.got_ + more);
  const bool open_ended = fetch.length_ == Extent::kToEnd && !fetch.answer_.length;
  if (!open_ended) return refuse(fetch, Why::damaged, "the server sends more bytes than it says");
  if (needed > fetch.most_)
    return refuse(fetch, Why::too_large,
                  fmt::format("has more than the {} bytes that a sample may have", fetch.most_));
  std::vector<std::byte> held(fetch.room_.begin(),
                              fetch.room_.begin() + static_cast<std::ptrdiff_t>(fetch.got_));
  const std::size_t room = std::max(static_cast<std::size_t>(needed), 2 * fetch.room_.size());
  fetch.room_ = fetch.buffer_.take(std::min(room, static_cast<std::size_t>(fetch.most_)));
  std::copy(held.begin(), held.end(), fetch.room_.begin());
  return true;
}

// Request to a server for a range of an object.

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
