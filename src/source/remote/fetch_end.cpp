// End of a request: its bytes or its failure, and the decision to retry.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/thread_meter.h"
#include "source/read_counts.h"
#include "source/remote/fetch_calls.h"
#include "source/remote/location.h"

namespace loaderscope::source {
namespace {

using Kind = SampleError::Kind;

std::string error_text(CURLcode failed) {
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

// Returns true for failures of the network and the server, and false for faults of the request.
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

// A body that is shorter than was said, and is not the object's end, is no answer.
std::optional<Trouble> Fetcher::find_trouble(const Fetch& fetch, CURLcode result) const {
  if (fetch.refusal_) return Trouble{fetch.refusal_->kind, fetch.refusal_->what(), false};
  if (result == CURLE_ABORTED_BY_CALLBACK) return Trouble{Kind::unreadable, "the run was stopped"};
  if (result == CURLE_TOO_MANY_REDIRECTS)
    return Trouble{Kind::unreadable, fmt::format("the server leads on more than {} times to "
                                                 "another place",
                                                 kMaxRedirects)};
  const HttpResponse& answer = fetch.answer_;
  if (result == CURLE_PARTIAL_FILE || (result == CURLE_OK && answer.status / 100 == 2 &&
                                       answer.length.value_or(0) > std::ssize(fetch.bytes())))
    return Trouble{
        Kind::truncated,
        fmt::format("the server sends {} of {} bytes", fetch.got_, answer.length.value_or(0)),
        true};
  if (result == CURLE_OPERATION_TIMEDOUT)
    return Trouble{
        Kind::timed_out,
        fmt::format("the server is silent for {}", format_duration(options_.request_timeout)),
        true};
  if (result != CURLE_OK) return Trouble{Kind::unreadable, error_text(result), may_pass(result)};
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
  std::optional<Trouble> trouble = find_trouble(fetch, result);
  const bool was_alone = fetch.asked_ && counts_.was_alone(*fetch.asked_);
  release(fetch);
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

}  // namespace loaderscope::source
