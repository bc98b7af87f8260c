#include "source/remote/fetcher.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <new>
#include <utility>

#include "base/thread_meter.h"
#include "source/read_counts.h"
#include "source/remote/fetch_calls.h"
#include "source/remote/location.h"
#include "source/remote/signature.h"

namespace loaderscope::source {
namespace {

using Kind = SampleError::Kind;

constexpr long kMostRedirects = 5;
constexpr int kLongestWaitMs = 200;  // until the stop signal is looked at
constexpr Nanos kNotAway = 500'000;  // from a wait to the look at what came
constexpr Nanos kNobodyLooked = 1'000'000'000;

void begin_curl() {
  static const CURLcode begun = ::curl_global_init(CURL_GLOBAL_DEFAULT);
  if (begun != CURLE_OK) throw RunError("libcurl cannot be used on this machine");
}

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

std::string words_of(CURLcode failed) {
  std::string words = ::curl_easy_strerror(failed);
  if (failed == CURLE_PEER_FAILED_VERIFICATION || failed == CURLE_SSL_CACERT_BADFILE)
    words += "; name a file with the authority that signed it in CURL_CA_BUNDLE";
  return words;
}

// Seconds until the connection was there, that was made for it.
double connected_after(CURL* easy) {
  double tcp = 0, tls = 0;
  ::curl_easy_getinfo(easy, CURLINFO_CONNECT_TIME, &tcp);
  ::curl_easy_getinfo(easy, CURLINFO_APPCONNECT_TIME, &tls);
  return std::max(tcp, tls);
}

// Of the line and the server, not of the request.
bool may_pass(CURLcode result) {
  switch (result) {
    case CURLE_COULDNT_CONNECT:
    case CURLE_COULDNT_RESOLVE_HOST:
    case CURLE_COULDNT_RESOLVE_PROXY:
    case CURLE_OPERATION_TIMEDOUT:
    case CURLE_GOT_NOTHING:
    case CURLE_SEND_ERROR:
    case CURLE_RECV_ERROR:
    case CURLE_PARTIAL_FILE:
    case CURLE_HTTP2:
    case CURLE_HTTP2_STREAM:
    case CURLE_SSL_CONNECT_ERROR:
      return true;
    default:
      return false;
  }
}

}  // namespace

Fetcher::Fetcher(const AccessOptions& options, const ReadCounts& counts)
    : options_(options), counts_(counts) {
  begin_curl();
  multi_ = ::curl_multi_init();
  if (multi_ == nullptr) throw std::bad_alloc();
}

Fetcher::~Fetcher() {
  for (Fetch* fetch : std::vector<Fetch*>(under_way_)) let_go(*fetch);
  ::curl_multi_cleanup(multi_);
}

bool Fetcher::stopped() const {
  return options_.stop_signal != nullptr &&
         options_.stop_signal->load(std::memory_order_relaxed) != 0;
}

void Fetcher::start(Fetch& fetch) {
  fetch.tries_ = 0;
  fetch.error_.reset();
  fetch.most_ = options_.largest_sample;
  fetch.stop_ = options_.stop_signal;
  begin_try(fetch);
}

void Fetcher::begin_try(Fetch& fetch) {
  ++fetch.tries_;
  fetch.got_ = 0;
  fetch.room_ = {};
  fetch.answer_ = {};
  fetch.refusal_.reset();
  fetch.state_ = Fetch::State::under_way;
  fetch.heard_ = fetch.begun_ = monotonic_now();
  tally();
  if (under_way_.empty()) busy_since_ = monotonic_now();
  under_way_.push_back(&fetch);
  fetch.came_ = &came_;
  try {
    set_up(fetch, fetch.where_ ? *fetch.where_ : locate(fetch.path_));
  } catch (const ValueError& error) {
    let_go(fetch);
    fetch.error_.emplace(Kind::unreadable, error.what());
    fetch.state_ = Fetch::State::done;
    return;
  } catch (...) {
    drop(fetch);
    throw;
  }
  ::curl_multi_add_handle(multi_, fetch.easy_.get());
  fetch.asked_ = counts_.count_asked();
}

void Fetcher::set_up(Fetch& fetch, const Location& location) {
  // Each try has its own: of one that has spoken HTTP/2, libcurl 7.88 refuses options when it is
  // used again. Connections are the multi handle's.
  fetch.easy_.reset(::curl_easy_init());
  CURL* easy = fetch.easy_.get();
  if (easy == nullptr) throw std::bad_alloc();
  const std::string url = location.url();
  set(easy, CURLOPT_URL, url.c_str());
  set(easy, CURLOPT_NOSIGNAL, 1L);
  set(easy, CURLOPT_PROTOCOLS_STR, "http,https");
  set(easy, CURLOPT_REDIR_PROTOCOLS_STR, url.starts_with("https") ? "https" : "http,https");
  // What a store of objects signs is for one place.
  set(easy, CURLOPT_FOLLOWLOCATION, location.is_s3 ? 0L : 1L);
  set(easy, CURLOPT_MAXREDIRS, kMostRedirects);
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

// Of the time since the last call: how long requests took behind their latency, and what came.
void Fetcher::tally() {
  const Nanos now = monotonic_now(), before = std::exchange(tallied_, now);
  const std::int64_t among = counts_.under_way(), then = std::exchange(among_, among);
  const Nanos latency = counts_.least_first_byte();
  Nanos time = 0;
  for (const Fetch* fetch : under_way_)
    time += std::max<Nanos>(0, now - std::max(before, fetch->begun_ + latency));
  counts_.count_among((then + among) / 2, time, std::exchange(came_, 0));
}

// What came while nobody waited says not when it came.
void Fetcher::forget_what_came() {
  tallied_ = monotonic_now();
  among_ = counts_.under_way();
  came_ = 0;
}

void Fetcher::let_go(Fetch& fetch) {
  tally();
  if (std::erase(under_way_, &fetch) > 0 && under_way_.empty())
    counts_.count_busy(monotonic_now() - busy_since_);
  if (std::exchange(fetch.asked_, std::nullopt)) counts_.count_ended();
  if (fetch.easy_) {
    ::curl_multi_remove_handle(multi_, fetch.easy_.get());
    ::curl_easy_setopt(fetch.easy_.get(), CURLOPT_HTTPHEADER, nullptr);
  }
  for (curl_slist* header = fetch.headers_; header != nullptr; header = header->next)
    std::memset(header->data, 0, std::strlen(header->data));
  ::curl_slist_free_all(std::exchange(fetch.headers_, nullptr));
}

void Fetcher::drop(Fetch& fetch) {
  if (fetch.state_ == Fetch::State::under_way) let_go(fetch);
  std::erase(waiting_, &fetch);
  fetch.state_ = Fetch::State::idle;
}

// A body that is shorter than was said, and is not the object's end, is no answer.
std::optional<Trouble> Fetcher::trouble_of(const Fetch& fetch, CURLcode result) const {
  if (fetch.refusal_) return Trouble{fetch.refusal_->kind, fetch.refusal_->what(), false};
  if (result == CURLE_ABORTED_BY_CALLBACK) return Trouble{Kind::unreadable, "the run was stopped"};
  if (result == CURLE_TOO_MANY_REDIRECTS)
    return Trouble{Kind::unreadable, fmt::format("the server leads on more than {} times to "
                                                 "another place",
                                                 kMostRedirects)};
  const Answer& answer = fetch.answer_;
  if (result == CURLE_PARTIAL_FILE || (result == CURLE_OK && answer.status / 100 == 2 &&
                                       answer.length.value_or(0) > std::ssize(fetch.bytes())))
    return Trouble{
        Kind::truncated,
        fmt::format("the server sends {} of {} bytes", fetch.got_, answer.length.value_or(0)),
        true};
  if (result == CURLE_OPERATION_TIMEDOUT)
    return Trouble{
        Kind::timed_out,
        fmt::format("the server is silent for {}", show_duration(options_.request_timeout)), true};
  if (result != CURLE_OK) return Trouble{Kind::unreadable, words_of(result), may_pass(result)};
  if (fetch.is_the_same()) return std::nullopt;
  if (answer.status / 100 != 2)
    return trouble_of_status(answer, fetch.where_ || is_of_s3(fetch.path_));
  const bool whole = fetch.length_ == Extent::kToEnd;
  if (!whole && !fetch.may_be_shorter && std::ssize(fetch.bytes()) != fetch.length_)
    return Trouble{Kind::truncated, fmt::format("ends after {} of the {} bytes that are asked for",
                                                fetch.got_, fetch.length_)};
  return std::nullopt;
}

void Fetcher::end_try(Fetch& fetch, CURLcode result) {
  double first_byte = 0, all = 0;
  ::curl_easy_getinfo(fetch.easy_.get(), CURLINFO_STARTTRANSFER_TIME, &first_byte);
  ::curl_easy_getinfo(fetch.easy_.get(), CURLINFO_TOTAL_TIME, &all);
  long connections = 0;
  ::curl_easy_getinfo(fetch.easy_.get(), CURLINFO_NUM_CONNECTS, &connections);
  counts_.count_connections(connections);
  const double connected = connections > 0 ? connected_after(fetch.easy_.get()) : 0;
  long version = 0;
  ::curl_easy_getinfo(fetch.easy_.get(), CURLINFO_HTTP_VERSION, &version);
  if (version == CURL_HTTP_VERSION_2_0) counts_.count_http2();
  if (fetch.answer_.status == 429 || fetch.answer_.status == 503) counts_.count_throttled();
  std::optional<Trouble> trouble = trouble_of(fetch, result);
  const bool was_alone = fetch.asked_ && counts_.was_alone(*fetch.asked_);
  let_go(fetch);
  if (trouble) return retry_or_fail(fetch, std::move(*trouble));
  patience_.went_well();
  counts_.count_answered(static_cast<Bytes>(fetch.got_), first_byte, all);
  if (was_alone) counts_.count_alone(first_byte - connected);
  if (fetch.is_the_same()) {
    fetch.room_ = fetch.to_prove_;
    fetch.got_ = fetch.room_.size();
    fetch.was_kept_ = true;
  }
  fetch.state_ = Fetch::State::done;
}

void Fetcher::retry_or_fail(Fetch& fetch, Trouble trouble) {
  if (trouble.kind == Kind::timed_out) counts_.count_timed_out();
  const std::optional<Nanos> pause = trouble.may_pass && !stopped()
                                         ? patience_.pause(fetch.tries_, fetch.answer_.retry_after)
                                         : std::nullopt;
  if (pause) {
    counts_.count_retried(*pause);
    fetch.not_before_ = monotonic_now() + *pause;
    fetch.state_ = Fetch::State::waiting;
    waiting_.push_back(&fetch);
    return;
  }
  counts_.count_failed();
  if (fetch.tries_ > 1) trouble.what += fmt::format(" ({} tries)", fetch.tries_);
  fetch.error_.emplace(trouble.kind, trouble.what);
  fetch.got_ = 0;
  fetch.state_ = Fetch::State::done;
}

void Fetcher::begin_those_due() {
  const Nanos now = monotonic_now();
  for (std::size_t i = 0; i < waiting_.size();) {
    Fetch& fetch = *waiting_[i];
    if (fetch.not_before_ > now && !stopped()) {
      ++i;
      continue;
    }
    waiting_.erase(waiting_.begin() + static_cast<std::ptrdiff_t>(i));
    begin_try(fetch);
  }
}

int Fetcher::milliseconds_to_wait() const {
  Nanos wait = Nanos{kLongestWaitMs} * 1'000'000;
  const Nanos now = monotonic_now();
  for (const Fetch* fetch : waiting_) wait = std::min(wait, fetch->not_before_ - now);
  return static_cast<int>(std::max<Nanos>(0, (wait + 999'999) / 1'000'000));
}

// While nobody looked, nobody listened.
void Fetcher::end_silent(Nanos looked_before) {
  const Nanos now = monotonic_now(), away = now - looked_before;
  for (Fetch* fetch : std::vector<Fetch*>(under_way_)) {
    if (away > kNobodyLooked) fetch->heard_ += away;
    if (now - fetch->heard_ > options_.request_timeout) end_try(*fetch, CURLE_OPERATION_TIMEDOUT);
  }
}

void Fetcher::turn(int wait_ms) {
  const Nanos looked_before = std::exchange(looked_, monotonic_now());
  begin_those_due();
  int running = 0, left = 0;
  const bool has_waited = monotonic_now() - waited_ < kNotAway;
  ::curl_multi_perform(multi_, &running);
  has_waited ? tally() : forget_what_came();
  bool any = false;
  while (CURLMsg* message = ::curl_multi_info_read(multi_, &left)) {
    if (message->msg != CURLMSG_DONE) continue;
    const CURLcode result = message->data.result;
    void* user = nullptr;
    ::curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &user);
    end_try(*static_cast<Fetch*>(user), result);
    any = true;
  }
  end_silent(looked_before);
  if (!any && wait_ms > 0) {
    ::curl_multi_poll(multi_, nullptr, 0, wait_ms, nullptr);
    waited_ = monotonic_now();
  }
}

void Fetcher::look() {
  if (!under_way_.empty() || !waiting_.empty()) turn(0);
}

void Fetcher::wait_a_while(const Fetch& fetch) {
  const bool was_answered = fetch.is_answered();
  const Nanos begin = monotonic_now();
  turn(milliseconds_to_wait());
  const Nanos waited = monotonic_now() - begin;
  counts_.count_waited(was_answered ? 0 : waited, was_answered ? waited : 0);
}

void Fetcher::wait(const Fetch& fetch) {
  while (!fetch.done() && !fetch.idle()) wait_a_while(fetch);
}

void fetch_now(Fetcher& fetcher, Fetch& fetch) {
  fetcher.start(fetch);
  fetcher.wait(fetch);
  if (fetch.error()) throw SampleError(*fetch.error());
}

}  // namespace loaderscope::source
