#include "rendezvous/rendezvous.h"

#include <fmt/format.h>
#include <sys/epoll.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "base/thread_meter.h"
#include "loaderscope/errors.h"

namespace loaderscope {
namespace {

constexpr int kPings = 50;
constexpr std::size_t kStepsKept = 64;  // more than can be in flight
constexpr std::int64_t kAhead = 3;      // records that come while one is taken
constexpr int kTimesToSend = 12;        // a record, whose receiver may be busy with others
constexpr std::chrono::milliseconds kLookForStop{100};

}  // namespace

Rendezvous::Rendezvous(ProcessAddress place, const HelloMessage& own, const Timeouts& patience,
                       const StopSignal* stop)
    : place_(std::move(place)),
      own_(own),
      patience_(patience),
      stop_signal_(stop),
      ranks_(own.ranks) {
  if (place_.processes == 1) return;
  events_ = Fd(::epoll_create1(EPOLL_CLOEXEC));
  const Nanos until = monotonic_now() + patience.join;
  if (is_first()) {
    allow_connections(place_.processes + kMaxStrangers);
    if (place_.listeners.empty()) place_.listeners = listen_at(place_.addresses, place_.port);
  } else {
    come_to_first(until);
  }
  thread_ = std::thread([this] { serve(); });
  try {
    if (is_first()) {
      wait_for([this] { return go_; }, until, "");
    } else {
      wait_for([this] { return welcome_; }, until, "the other processes do not come");
      clock_ = compare_clocks();
      peers_.front()->connection.send(MessageKind::clocked);
      wait_for([this] { return go_; }, until, "the other processes do not compare their clocks");
    }
  } catch (...) {
    {
      const std::lock_guard lock(mutex_);
      if (is_first()) send_all(MessageKind::lost, failure_);
      stop_ = true;
    }
    thread_.join();
    throw;
  }
  stop_signal_ = nullptr;
}

Rendezvous::~Rendezvous() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
    on_begin_ = nullptr;
  }
  thread_.join();
}

// False: `until` or the signal came first.
template <class Done>
bool Rendezvous::wait_until(std::unique_lock<std::mutex>& lock, Done done, Nanos until) {
  while (!done()) {
    if (monotonic_now() >= until || (stop_signal_ != nullptr && *stop_signal_ != 0)) return false;
    changed_.wait_for(lock, kLookForStop);
  }
  return true;
}

template <class Done>
void Rendezvous::wait_for(Done done, Nanos until, const std::string& otherwise) {
  std::unique_lock lock(mutex_);
  const bool is_in_time = wait_until(
      lock, [&] { return done() || !failure_.empty(); }, until);
  if (done()) return;
  if (!is_in_time && monotonic_now() < until) {
    failure_ = "rendezvous: interrupted before all processes had met";
  } else if (!is_in_time && otherwise.empty()) {
    failure_ = fmt::format(
        "rendezvous: {} did not come within {}{}; look whether all processes of the job were "
        "started, with one MASTER_ADDR",
        missing(), format_duration(patience_.join),
        refused_.empty() ? "" : fmt::format(" (one was refused: {})", refused_));
  } else if (!is_in_time) {
    failure_ = fmt::format("rendezvous: {}; look at what process 0 says", otherwise);
  }
  throw RunError(failure_);
}

ClockDifference Rendezvous::compare_clocks() {
  if (is_first()) return {};
  ClockDifference best{0, std::numeric_limits<Nanos>::max()};
  for (int i = 0; i < kPings; ++i) {
    Pong pong;
    const Nanos sent = monotonic_now();
    if (!peers_.front()->connection.send(MessageKind::ping))
      throw RunError("rendezvous: process 0 has ended", "look at what it says");
    wait_for([this] { return pong_.has_value(); }, sent + patience_.silence,
             "process 0 does not answer");
    {
      const std::lock_guard lock(mutex_);
      pong = *std::exchange(pong_, std::nullopt);
    }
    // The answer was given within the round trip: its middle is off by half of it at most.
    const Nanos error = (pong.here - sent + 1) / 2;
    if (error < best.error) best = {sent + error - pong.there, error, sent + error};
  }
  return best;
}

void Rendezvous::ready(std::int64_t step, Nanos at) {
  const std::lock_guard lock(mutex_);
  if (is_first()) {
    take_ready(step, at);
  } else {
    peers_.front()->connection.send(MessageKind::ready, packed(step, at - clock_.offset));
  }
}

void Rendezvous::take_ready(std::int64_t step, Nanos at) {
  Ready& ready = ready_[step];
  ready.last = ready.count == 0 ? at : std::max(ready.last, at);
  if (++ready.count < place_.processes) return;
  const Nanos begin = ready.last;
  ready_.erase(step);
  send_all(MessageKind::begin, packed(step, begin));
  take_begin(step, begin);
}

void Rendezvous::take_begin(std::int64_t step, Nanos at) {
  begins_[step] = at + clock_.offset;
  if (begins_.size() > kStepsKept) begins_.erase(begins_.begin());
}

std::optional<Nanos> Rendezvous::find_begin(std::int64_t step) {
  const std::lock_guard lock(mutex_);
  const auto found = begins_.find(step);
  return found == begins_.end() ? std::nullopt : std::optional(found->second);
}

void Rendezvous::on_begin(std::function<void()> call) {
  const std::lock_guard lock(mutex_);
  on_begin_ = std::move(call);
}

void Rendezvous::publish_window(const Window& window) {
  const std::lock_guard lock(mutex_);
  window_ = window;
  send_all(MessageKind::window, packed(window.folded, window.first_measured));
  if (window.ended) take_over(window.folded);
}

Rendezvous::Window Rendezvous::window() {
  const std::lock_guard lock(mutex_);
  Window window = window_;
  window.ended = over_.has_value();
  return window;
}

void Rendezvous::end_after(std::int64_t steps) {
  const std::lock_guard lock(mutex_);
  if (is_first()) {
    take_over(steps);
  } else if (!peers_.empty()) {
    peers_.front()->connection.send(MessageKind::over, packed(steps));
  }
}

void Rendezvous::take_over(std::int64_t steps) {
  if (over_) return;
  over_ = steps;
  if (is_first()) send_all(MessageKind::over, packed(steps));
}

bool Rendezvous::is_over(std::int64_t steps) {
  const std::lock_guard lock(mutex_);
  if (std::exchange(steps_, steps) != steps) ++progress_;
  return !failure_.empty() || (over_ && steps >= *over_);
}

void Rendezvous::give_up(const std::string& why) {
  const std::lock_guard lock(mutex_);
  if (is_first()) {
    fail(why);
  } else if (!peers_.empty()) {
    peers_.front()->connection.send(MessageKind::lost, why.substr(0, kMaxWord));
  }
}

std::string Rendezvous::failure() {
  const std::lock_guard lock(mutex_);
  return failure_;
}

void Rendezvous::invite(Peer& peer) {
  peer.is_awaited = true;
  peer.got_on_at = monotonic_now();
  peer.connection.allow(kMaxRecord);
  peer.connection.send(MessageKind::give);
}

void Rendezvous::gather(const Take& take, const StopSignal* stop) {
  stop_signal_ = stop;
  std::int64_t invited = 0;
  for (std::int64_t number = 1; number < place_.processes; ++number) {
    std::string bytes;
    {
      // Ends: each process either sends its record or is lost.
      std::unique_lock lock(mutex_);
      while (invited < std::min(number + kAhead, place_.processes - 1)) invite(process(++invited));
      Peer& peer = process(number);
      wait_until(
          lock, [&] { return peer.record || peer.is_gone; }, std::numeric_limits<Nanos>::max());
      if (peer.record) {
        bytes = *std::exchange(peer.record, std::nullopt);
        peer.connection.send(MessageKind::thanks);
      }
      peer.is_done = true;
      ++progress_;
    }
    take(number, std::move(bytes));
  }
}

void Rendezvous::hand_over(const std::string& bytes) {
  if (place_.processes == 1) return;
  if (bytes.size() > kMaxRecord) {
    const std::string why = fmt::format(
        "rendezvous: the record of process {} is {} MB, and process 0 takes {}; measure fewer "
        "steps, or each host by itself, with --json, and use 'loaderscope merge'",
        place_.number, bytes.size() >> 20, kMaxRecord >> 20);
    give_up(why);
    throw RunError(why);
  }
  std::unique_lock lock(mutex_);
  Peer& first = *peers_.front();
  first.is_awaited = true;
  first.got_on_at = monotonic_now();
  changed_.wait(lock, [&] { return give_ || first.is_gone; });
  const bool is_there = !first.is_gone;
  lock.unlock();
  const bool sent = is_there && first.connection.send(MessageKind::record, bytes, kTimesToSend);
  lock.lock();
  if (sent) changed_.wait(lock, [&] { return thanked_ || first.is_gone; });
  if (thanked_) return;
  if (!failure_.empty()) throw RunError(failure_);
  throw RunError("rendezvous: process 0 did not take the record", "look at what it says");
}

std::string Rendezvous::name_of(std::int64_t number) {
  const std::lock_guard lock(mutex_);
  return fmt::format("process {} on {}", number, shown_text(find_introduction(number).host));
}

const HelloMessage& Rendezvous::find_introduction(std::int64_t number) {
  return number == 0 ? own_ : process(number).hello;
}

// Containers of one machine have names of their own, and machines may all have one.
bool Rendezvous::are_on_one_host(std::int64_t one, std::int64_t other) {
  const std::lock_guard lock(mutex_);
  const HelloMessage &a = find_introduction(one), &b = find_introduction(other);
  return a.host == b.host && a.boot == b.boot;
}

UsableCpus Rendezvous::find_cpus(std::int64_t number) {
  const std::lock_guard lock(mutex_);
  return find_introduction(number).cpus;
}

std::string Rendezvous::awaited() {
  const std::lock_guard lock(mutex_);
  if (!is_first() || ready_.empty()) return "";
  const std::int64_t step = ready_.begin()->first;
  std::string names;
  for (const auto& peer : peers_) {
    if (peer->number < 0 || peer->ready_for >= step) continue;
    names += fmt::format("{}process {} on {}", names.empty() ? "" : ", ", peer->number,
                         shown_text(peer->hello.host));
  }
  return names;
}

}  // namespace loaderscope
