// Pieces of objects, asked of servers: many at once, by one thread.
#pragma once

#include <curl/curl.h>

#include <atomic>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "loaderscope/errors.h"
#include "loaderscope/source.h"
#include "source/options.h"
#include "source/readers.h"
#include "source/remote/http_response.h"
#include "source/remote/location.h"
#include "source/remote/retry_policy.h"

namespace loaderscope::source {

class ReadCounts;

// One piece. Stays where it is while it is under way.
class Fetch {
 public:
  Fetch() = default;
  Fetch(const Fetch&) = delete;
  Fetch& operator=(const Fetch&) = delete;

  // Before it is started. Of kToEnd the whole object is asked for, without naming a range.
  void aim(std::string path, Bytes begin, Bytes length);
  void aim(Location where);  // at all that is there
  Bytes begin() const { return begin_; }
  Bytes length() const { return length_; }
  // What there is of an object that ends within the range is enough.
  bool may_be_shorter = false;
  bool is_checked = false;  // of who asks: has looked at what came

  bool done() const { return state_ == State::done; }
  bool is_answered() const { return done() || answer_.status != 0; }  // its bytes come
  bool idle() const { return state_ == State::idle; }
  const std::optional<SampleError>& error() const { return error_; }  // of one that is done
  std::span<const std::byte> bytes() const { return room_.first(got_); }
  const HttpResponse& answer() const { return answer_; }
  bool was_kept() const { return was_kept_; }
  // Bytes that were there already: it is done.
  std::span<std::byte> take_kept(std::size_t bytes);
  // They are to be proved: started, it asks for the object with this header of HttpResponse's, and
  // keeps them where it is the same.
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
  std::optional<Location> where_;  // in place of the path
  Bytes begin_ = 0, length_ = Extent::kToEnd;
  SampleBuffer buffer_;
  std::span<std::byte> room_;
  std::size_t got_ = 0;
  HttpResponse answer_;
  std::optional<SampleError> error_, refusal_;  // refusal: of this try, in the midst of it
  int tries_ = 0;
  std::optional<std::int64_t>
      asked_;  // of this try, as it was counted; nothing: it is not under way
  Nanos not_before_ = 0, heard_ = 0, begun_ = 0;
  bool was_kept_ = false;
  std::string unless_same_;  // "": there is nothing to prove
  std::span<std::byte> to_prove_;
  Bytes most_ = 0;         // bytes that it may have
  Bytes* came_ = nullptr;  // its fetcher's
  std::unique_ptr<CURL, FreeEasy> easy_;
  curl_slist* headers_ = nullptr;
  const std::atomic<int>* stop_ = nullptr;
};

// Not shared between threads. What goes wrong and may go right is tried again, after a while.
class Fetcher {
 public:
  // What is given by reference outlives it.
  Fetcher(const AccessOptions& options, const ReadCounts& counts);
  ~Fetcher();
  Fetcher(const Fetcher&) = delete;
  Fetcher& operator=(const Fetcher&) = delete;

  void start(Fetch& fetch);
  void drop(Fetch& fetch);                // nobody wants it any more: it is idle then
  void look();                            // at what has come, without waiting
  void wait_a_while(const Fetch& fetch);  // for it, or anything else that is under way
  void wait(const Fetch& fetch);          // until it is done

 private:
  void begin_try(Fetch& fetch);
  void set_up(Fetch& fetch, const Location& location);
  void let_go(Fetch& fetch);
  void end_try(Fetch& fetch, CURLcode result);
  std::optional<Trouble> trouble_of(const Fetch& fetch, CURLcode result) const;
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
  // When it was last counted what came, of how many under way in all, and what has come since; when
  // this last waited for it.
  Nanos tallied_ = 0, waited_ = 0;
  std::int64_t among_ = 0;
  Bytes came_ = 0;
};

// Throws SampleError. A piece by itself, in its own time.
void fetch_now(Fetcher& fetcher, Fetch& fetch);

}  // namespace loaderscope::source
