// Ranges of objects, requested from servers: many at once, by one thread.
#pragma once

#include <curl/curl.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "loaderscope/errors.h"
#include "loaderscope/source.h"
#include "loaderscope/units.h"
#include "source/options.h"
#include "source/readers.h"
#include "source/remote/http_response.h"
#include "source/remote/location.h"

namespace loaderscope::source {

// Limits on pauses and repetitions of requests. Policy of one reader. It limits retries to a tenth
// of the successful requests, and some at the beginning, to protect a server in trouble.
class RetryPolicy {
 public:
  static constexpr int kMaxTries = 6;       // tries of one request
  static constexpr double kMaxAtOnce = 50;  // saved retries
  static constexpr Nanos kFirstPause = 100'000'000;
  static constexpr Nanos kMaxPause = 10'000'000'000;
  static constexpr double kMaxAskedFor = 60;  // maximum pause in seconds that a server may request

  void went_well() { left_ = left_ + 0.1 < kMaxAtOnce ? left_ + 0.1 : kMaxAtOnce; }
  // Returns the pause after `tries` tries. It is random, from 0 to a limit that doubles each time,
  // or slightly more than the server's request. Nothing: give up.
  std::optional<Nanos> pause(int tries, std::optional<double> server_asks);

 private:
  double uniform();

  double left_ = kMaxAtOnce;
  std::uint64_t state_ = 0;  // state of the random numbers; 0: not begun
};

class ReadCounts;

// One range. It must not move while it is in flight.
class Fetch {
 public:
  Fetch() = default;
  Fetch(const Fetch&) = delete;
  Fetch& operator=(const Fetch&) = delete;

  // Sets the range before the start. kToEnd requests the whole object, without a range.
  void aim(std::string path, Bytes begin, Bytes length);
  void aim(Location where);  // sets the whole object of a location
  Bytes begin() const { return begin_; }
  Bytes length() const { return length_; }
  // Accepts an object that ends within the range.
  bool may_be_shorter = false;
  bool is_checked = false;  // set by the caller: the bytes were checked

  bool done() const { return state_ == State::done; }
  bool is_answered() const { return done() || answer_.status != 0; }  // true: bytes are arriving
  bool idle() const { return state_ == State::idle; }
  const std::optional<SampleError>& error() const { return error_; }  // only if done()
  std::span<const std::byte> bytes() const { return room_.first(got_); }
  const HttpResponse& answer() const { return answer_; }
  bool was_kept() const { return was_kept_; }
  // Takes bytes that are known already. The fetch is done then.
  std::span<std::byte> take_kept(std::size_t bytes);
  // Requests a proof of the taken bytes. The request asks for the object with this conditional
  // header of HttpResponse, and keeps the bytes if the object is unchanged.
  void ask_unless_same(std::string header);
  bool was_proved() const { return was_kept_ && !unless_same_.empty(); }

 private:
  friend class Fetcher;
  friend struct FetchCalls;
  static constexpr int kNotModified = 304;
  bool is_the_same() const;
  enum class State : std::uint8_t { idle, waiting, under_way, done };
  struct FreeEasy {
    void operator()(CURL* easy) const { ::curl_easy_cleanup(easy); }
  };

  State state_ = State::idle;
  std::string path_;
  std::optional<Location> where_;  // used in place of the path
  Bytes begin_ = 0, length_ = Extent::kToEnd;
  SampleBuffer buffer_;
  std::span<std::byte> room_;
  std::size_t got_ = 0;
  HttpResponse answer_;
  std::optional<SampleError> error_, refusal_;  // refusal_: found while this try runs
  int tries_ = 0;
  std::optional<std::int64_t> asked_;  // count at the begin of this try; empty: not in flight
  Nanos not_before_ = 0, heard_ = 0, begun_ = 0;
  bool was_kept_ = false;
  std::string unless_same_;  // "": no proof is needed
  std::span<std::byte> to_prove_;
  Bytes most_ = 0;         // maximum size in bytes
  Bytes* came_ = nullptr;  // counter of its fetcher
  std::unique_ptr<CURL, FreeEasy> easy_;
  curl_slist* headers_ = nullptr;
  const std::atomic<int>* stop_ = nullptr;
};

// Not shared between threads. Transient failures are tried again after a pause.
class Fetcher {
 public:
  // Both references outlive it.
  Fetcher(const AccessOptions& options, const ReadCounts& counts);
  ~Fetcher();
  Fetcher(const Fetcher&) = delete;
  Fetcher& operator=(const Fetcher&) = delete;

  void start(Fetch& fetch);
  void drop(Fetch& fetch);                // cancels the fetch, which is idle then
  void look();                            // handles events without waiting
  void wait_a_while(const Fetch& fetch);  // waits for an event of any fetch in flight
  void wait(const Fetch& fetch);          // waits until the fetch is done

 private:
  void begin_try(Fetch& fetch);
  void set_up(Fetch& fetch, const Location& location);
  void release(Fetch& fetch);
  void end_try(Fetch& fetch, CURLcode result);
  std::optional<Trouble> find_trouble(const Fetch& fetch, CURLcode result) const;
  void retry_or_fail(Fetch& fetch, Trouble trouble);
  void begin_those_due();
  int milliseconds_to_wait() const;
  void turn(int wait_ms);
  void end_silent(Nanos looked_before);
  bool stopped() const;
  void tally();
  void forget_what_came();

  const AccessOptions& options_;
  const ReadCounts& counts_;
  RetryPolicy patience_;
  CURLM* multi_;
  std::vector<Fetch*> waiting_, in_flight_;
  Nanos busy_since_ = 0, looked_ = 0;
  // Time of the last count, the number of requests in flight at that time, and the bytes since
  // then; time of the last wait.
  Nanos tallied_ = 0, waited_ = 0;
  std::int64_t among_ = 0;
  Bytes came_ = 0;
};

// Fetches one range and waits. Throws SampleError.
void fetch_now(Fetcher& fetcher, Fetch& fetch);

}  // namespace loaderscope::source
