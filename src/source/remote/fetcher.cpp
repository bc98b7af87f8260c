#include "source/remote/fetcher.h"

#include <algorithm>
#include <cstring>
#include <new>
#include <random>
#include <utility>

#include "base/thread_meter.h"
#include "source/read_counts.h"

namespace loaderscope::source {
namespace {

using Kind = SampleError::Kind;

constexpr int kMaxWaitMs = 200;      // maximum delay of a stop signal
constexpr Nanos kNotAway = 500'000;  // limit from a wait to handling its events
constexpr Nanos kUnpolled = 1'000'000'000;

void begin_curl() {
  static const CURLcode begun = ::curl_global_init(CURL_GLOBAL_DEFAULT);
  if (begun != CURLE_OK) throw RunError("libcurl cannot be used on this machine");
}

}  // namespace

Fetcher::Fetcher(const AccessOptions& options, const ReadCounts& counts)
    : options_(options), counts_(counts) {
  begin_curl();
  multi_ = ::curl_multi_init();
  if (multi_ == nullptr) throw std::bad_alloc();
}

Fetcher::~Fetcher() {
  for (Fetch* fetch : std::vector<Fetch*>(in_flight_)) release(*fetch);
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
  if (in_flight_.empty()) busy_since_ = monotonic_now();
  in_flight_.push_back(&fetch);
  fetch.came_ = &came_;
  try {
    set_up(fetch, fetch.where_ ? *fetch.where_ : locate(fetch.path_));
  } catch (const ValueError& error) {
    release(fetch);
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

// Counts, since the last call, the time of requests after their latency, and the received bytes.
void Fetcher::tally() {
  const Nanos now = monotonic_now(), before = std::exchange(tallied_, now);
  const std::int64_t among = counts_.under_way(), then = std::exchange(among_, among);
  const Nanos latency = counts_.least_first_byte();
  Nanos time = 0;
  for (const Fetch* fetch : in_flight_)
    time += std::max<Nanos>(0, now - std::max(before, fetch->begun_ + latency));
  counts_.count_among((then + among) / 2, time, std::exchange(came_, 0));
}

// Restarts the count: the arrival times of bytes are unknown while no caller waits.
void Fetcher::forget_what_came() {
  tallied_ = monotonic_now();
  among_ = counts_.under_way();
  came_ = 0;
}

void Fetcher::release(Fetch& fetch) {
  tally();
  if (std::erase(in_flight_, &fetch) > 0 && in_flight_.empty())
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
  if (fetch.state_ == Fetch::State::under_way) release(fetch);
  std::erase(waiting_, &fetch);
  fetch.state_ = Fetch::State::idle;
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
  Nanos wait = Nanos{kMaxWaitMs} * 1'000'000;
  const Nanos now = monotonic_now();
  for (const Fetch* fetch : waiting_) wait = std::min(wait, fetch->not_before_ - now);
  return static_cast<int>(std::max<Nanos>(0, (wait + 999'999) / 1'000'000));
}

// Excludes time in which no caller handled events from the timeout.
void Fetcher::end_silent(Nanos looked_before) {
  const Nanos now = monotonic_now(), away = now - looked_before;
  for (Fetch* fetch : std::vector<Fetch*>(in_flight_)) {
    if (away > kUnpolled) fetch->heard_ = std::min(now, fetch->heard_ + away);
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
  if (!in_flight_.empty() || !waiting_.empty()) turn(0);
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

double RetryPolicy::uniform() {
  if (state_ == 0) state_ = std::random_device{}() | 1u;
  state_ ^= state_ << 13;
  state_ ^= state_ >> 7;
  state_ ^= state_ << 17;
  return static_cast<double>(state_ >> 11) / static_cast<double>(std::uint64_t{1} << 53);
}

std::optional<Nanos> RetryPolicy::pause(int tries, std::optional<double> server_asks) {
  if (tries >= kMaxTries || left_ < 1) return std::nullopt;
  if (server_asks && *server_asks > kMaxAskedFor) return std::nullopt;
  left_ -= 1;
  const Nanos most = std::min(kMaxPause, kFirstPause << std::min(tries - 1, 20));
  const double jitter = uniform();
  if (server_asks) {
    const auto asked = static_cast<Nanos>(*server_asks * 1e9);
    return asked + static_cast<Nanos>(jitter * static_cast<double>(kFirstPause));
  }
  return static_cast<Nanos>(jitter * static_cast<double>(most));
}

}  // namespace loaderscope::source
