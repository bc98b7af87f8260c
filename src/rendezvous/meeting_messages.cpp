// What arrives at a meeting.
#include <fmt/format.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include <algorithm>
#include <charconv>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "base/printable.h"
#include "base/thread_meter.h"
#include "loaderscope/errors.h"
#include "rendezvous/meeting.h"

namespace loaderscope {
namespace {

constexpr std::size_t kLongestOfMember = std::size_t{1} << 30;  // a record
constexpr int kLookEveryMs = 100;
constexpr std::string_view kOurs = "loaderscope meeting 1";
constexpr std::int64_t kMostStrangers = 64;
constexpr std::int64_t kMostRanks = 1'000'000;  // of a process
constexpr Nanos kComeAgain = kSecond / 10;

std::string next_line(std::string_view& text) {
  const std::size_t end = std::min(text.find('\n'), text.size());
  std::string line(text.substr(0, end));
  text.remove_prefix(std::min(end + 1, text.size()));
  return line;
}

std::int64_t number_in_line(std::string_view& text) {
  const std::string line = next_line(text);
  std::int64_t number = -1;
  std::from_chars(line.data(), line.data() + line.size(), number);
  return number;
}

std::string sentence_in(const std::string& bytes) {
  constexpr std::size_t kLongest = 2000;
  return printable(std::string_view(bytes).substr(0, kLongest));
}

// Of settings, one a line, the first that the other has not: "NAME = VALUE" in quotes.
std::string first_own(std::string_view one, std::string_view other) {
  std::set<std::string> others;
  while (!other.empty()) others.insert(next_line(other));
  while (!one.empty()) {
    const std::string line = next_line(one);
    if (!others.contains(line)) return "'" + shown_text(line) + "'";
  }
  return "no such setting";
}

}  // namespace

void Meeting::come_to_first() {
  auto peer = std::make_unique<Peer>(
      connect_to(place_.addresses, place_.port, monotonic_now() + patience_.to_come, stop_signal_));
  peer->number = 0;
  peer->connection.allow(kLongestOfMember);
  const std::string hello =
      fmt::format("{}\n{}\n{}\n{}\n{}\n{}\n{}\n{}", kOurs, place_.job, own_.version, place_.number,
                  place_.processes, own_.ranks, own_.host, own_.settings);
  if (hello.size() > kLongestHello)
    throw RunError(fmt::format(
        "rendezvous: the settings of the job are {} MB, and process 0 takes {}; give fewer --data",
        hello.size() >> 20, kLongestHello >> 20));
  if (!peer->connection.send(MessageKind::hello, hello))
    throw RunError("rendezvous: process 0 has ended; look at what it says");
  attend_to(*peer);
  peers_.push_back(std::move(peer));
}

void Meeting::attend_to(Peer& peer) {
  epoll_event event{EPOLLIN, {.ptr = &peer}};
  if (::epoll_ctl(events_, EPOLL_CTL_ADD, peer.connection.fd(), &event) != 0) peer.is_gone = true;
}

// A thread's: takes what comes, and sees who is silent. What one says costs the same whatever the
// number of the others.
void Meeting::serve() {
  constexpr int kAtOnce = 64;
  epoll_event come[kAtOnce];
  Nanos looked_at = 0, beaten_at = 0;
  for (;;) {
    const int count = ::epoll_wait(events_, come, kAtOnce, kLookEveryMs);
    std::function<void()> call;
    {
      const std::lock_guard lock(mutex_);
      if (stop_) return;
      const Nanos now = monotonic_now();
      const std::int64_t begins = last_begin();
      for (int i = 0; i < count; ++i) hear_of(come[i].data.ptr, now);
      if (now - looked_at >= kLookEveryMs * kMillisecond) {
        hear_all(now);
        looked_at = now;
      }
      // Who was refused is a member, and is told no other word.
      if (is_first() && !welcome_ && failure_.empty() && members() == place_.processes - 1)
        welcome_all();
      if (now - beaten_at >= kSecond) {
        tell_all(MessageKind::beat, packed(progress_));
        beaten_at = now;
      }
      if (last_begin() != begins) call = on_begin_;
      changed_.notify_all();
    }
    if (call) call();
  }
}

void Meeting::hear_of(void* who, Nanos now) {
  if (who == nullptr) return let_many_come(let_one_come(), now);
  Peer& peer = *static_cast<Peer*>(who);
  if (!peer.is_gone) hear(peer, true, now);
  if (peer.is_gone) ::epoll_ctl(events_, EPOLL_CTL_DEL, peer.connection.fd(), nullptr);
}

void Meeting::hear_all(Nanos now) {
  for (const auto& peer : peers_)
    if (!peer->is_gone) hear(*peer, false, now);
  std::erase_if(peers_, [](const auto& peer) { return peer->is_gone && peer->number < 0; });
  let_many_come(true, now);
}

// Strangers take room for a while; where none can be taken, it is looked again later.
void Meeting::let_many_come(bool can_take_one, Nanos now) {
  if (!can_take_one) come_at_ = now + kComeAgain;
  const bool listens = place_.listener >= 0 && has_room() && now >= come_at_;
  if (listens == listens_) return;
  epoll_event event{EPOLLIN, {.ptr = nullptr}};
  ::epoll_ctl(events_, listens ? EPOLL_CTL_ADD : EPOLL_CTL_DEL, place_.listener, &event);
  listens_ = listens;
}

void Meeting::hear(Peer& peer, bool has_come, Nanos now) {
  const bool lives = !has_come || peer.connection.receive();
  while (!peer.is_gone) {
    std::optional<Message> message = peer.connection.next();
    if (!message) break;
    take(peer, std::move(*message));
  }
  if (peer.is_gone) return;
  if (peer.number < 0 && peer.connection.is_too_long())
    refused_ = "what it said was longer than any of ours";
  if (peer.connection.is_amid_message() && has_come) {
    peer.got_on_at = now;
    ++progress_;  // who waits behind it sees that
  }
  // Process 0 may itself wait for another that does not get on.
  const Nanos to_get_on = patience_.to_get_on * (is_first() ? 1 : 2);
  if (!lives) {
    lose(peer, "has ended");
  } else if (now - peer.connection.heard_at() > patience_.in_silence) {
    lose(peer, "was not heard of for " + show_duration(patience_.in_silence));
  } else if (peer.is_awaited && !peer.record && now - peer.got_on_at > to_get_on) {
    lose(peer, "lives and has handed nothing over for " + show_duration(to_get_on));
  }
}

bool Meeting::has_room() const {
  return std::count_if(peers_.begin(), peers_.end(),
                       [](const auto& peer) { return peer->number < 0; }) < kMostStrangers;
}

bool Meeting::let_one_come() {
  Fd socket(::accept4(place_.listener, nullptr, nullptr, SOCK_CLOEXEC));
  if (socket < 0) return false;
  peers_.push_back(std::make_unique<Peer>(std::move(socket)));
  attend_to(*peers_.back());
  return true;
}

void Meeting::take(Peer& peer, Message message) {
  if (peer.number < 0) {
    if (message.kind != MessageKind::hello) {
      peer.is_gone = true;
    } else {
      take_hello(peer, message.bytes);
    }
    return;
  }
  const std::optional<Numbers> numbers = unpacked(message.bytes);
  switch (message.kind) {
    case MessageKind::refusal:
    case MessageKind::lost:
      fail(is_first() ? fmt::format("process {} on {}: {}", peer.number, shown_text(peer.of.host),
                                    sentence_in(message.bytes))
                      : sentence_in(message.bytes));
      break;
    case MessageKind::welcome:
      if (is_first()) break;
      welcome_ = true;
      if (!numbers) break;
      first_rank_ = numbers->first;
      ranks_ = numbers->second;
      break;
    case MessageKind::ping:
      peer.connection.send(MessageKind::pong, packed(monotonic_now()));
      break;
    case MessageKind::pong:
      if (numbers) pong_ = Pong{numbers->first, monotonic_now()};
      break;
    case MessageKind::clocked:
      peer.clocked = true;
      if (welcome_ && all([](const Peer& one) { return one.clocked; })) {
        tell_all(MessageKind::go, "");
        go_ = true;
      }
      break;
    case MessageKind::go:
      go_ = go_ || !is_first();
      break;
    case MessageKind::ready:
      if (!numbers || !is_first() || numbers->first != peer.ready_for + 1) break;
      peer.ready_for = numbers->first;
      take_ready(numbers->first, numbers->second);
      break;
    case MessageKind::begin:
      if (numbers && !is_first()) take_begin(numbers->first, numbers->second);
      break;
    case MessageKind::window:
      if (numbers && !is_first()) window_ = {numbers->first, numbers->second, false};
      break;
    case MessageKind::over:
      if (numbers) take_over(numbers->first);
      break;
    case MessageKind::give:
      give_ = true;
      break;
    case MessageKind::record:
      peer.record = std::move(message.bytes);
      break;
    case MessageKind::thanks:
      thanked_ = true;
      break;
    case MessageKind::beat:
      if (!numbers || std::exchange(peer.progress, numbers->first) == numbers->first) break;
      peer.got_on_at = monotonic_now();
      break;
    case MessageKind::hello:
      break;
  }
}

void Meeting::take_hello(Peer& peer, const std::string& bytes) {
  std::string_view text = bytes;
  const std::string ours = next_line(text), job = next_line(text);
  peer.of.version = next_line(text);
  const std::int64_t number = number_in_line(text), processes = number_in_line(text);
  peer.of.ranks = number_in_line(text);
  peer.of.host = next_line(text);
  peer.of.settings = text;
  std::string refused = stranger(number, processes, ours == kOurs && job == place_.job);
  if (refused.empty() && (peer.of.ranks < 1 || peer.of.ranks > kMostRanks))
    refused =
        fmt::format("process {} has {} ranks; give 1 to {}", number, peer.of.ranks, kMostRanks);
  if (!refused.empty()) {
    refused_ = refused;
    peer.connection.send(MessageKind::refusal, "rendezvous: " + refused);
    peer.is_gone = true;
    return;
  }
  peer.number = number;
  if (const std::string why = why_refused(peer); !why.empty()) {
    peer.connection.send(MessageKind::refusal, why);
    fail(why);
    return;
  }
  peer.connection.allow(kLongestOfMember);
}

// Why it cannot belong to this job; "": it can.
std::string Meeting::stranger(std::int64_t number, std::int64_t processes, bool is_of_job) const {
  if (!is_of_job)
    return fmt::format("at port {} another job meets; give each its own MASTER_PORT", place_.port);
  if (number < 1 || number >= place_.processes || processes != place_.processes)
    return fmt::format(
        "process {} of {} came to process 0 of {}; start all by one command, or give each job its "
        "own MASTER_PORT",
        number, processes, place_.processes);
  if (std::any_of(peers_.begin(), peers_.end(),
                  [&](const auto& one) { return one->number == number; }))
    return fmt::format("process {} is there already; give each job its own MASTER_PORT", number);
  return "";
}

std::string Meeting::why_refused(const Peer& peer) const {
  const std::string who = fmt::format("process {} on {}", peer.number, shown_text(peer.of.host));
  if (peer.of.version != own_.version)
    return fmt::format("rendezvous: {} is loaderscope {}, and process 0 is {}; install one version",
                       who, shown_text(peer.of.version), own_.version);
  if (peer.of.settings != own_.settings)
    return fmt::format(
        "rendezvous: {} has {}, and process 0 has {}; start all with the same settings", who,
        first_own(peer.of.settings, own_.settings), first_own(own_.settings, peer.of.settings));
  return "";
}

// In the order of their numbers.
void Meeting::welcome_all() {
  std::sort(peers_.begin(), peers_.end(),
            [](const auto& one, const auto& other) { return one->number < other->number; });
  ranks_ = own_.ranks;
  for (const auto& peer : peers_) ranks_ += peer->number > 0 ? peer->of.ranks : 0;
  std::int64_t first = own_.ranks;
  for (const auto& peer : peers_) {
    if (peer->number < 0) continue;
    peer->connection.send(MessageKind::welcome, packed(first, ranks_));
    first += peer->of.ranks;
  }
  welcome_ = true;
  place_.listener = Fd();  // nobody comes any more
  listens_ = false;
}

// After its record, or at the end of the job, a process may go.
void Meeting::lose(Peer& peer, const std::string& how) {
  peer.is_gone = true;
  if (peer.number < 0 || peer.record || peer.is_done || thanked_ || stop_) return;
  if (is_first()) {
    fail(
        fmt::format("rendezvous: process {} on {} {}; the job ends with what was measured until "
                    "then",
                    peer.number, shown_text(peer.of.host), how));
  } else {
    fail(fmt::format("rendezvous: process 0 at {} {}; look at what it says",
                     shown_text(place_.addresses.front()), how));
  }
}

void Meeting::fail(const std::string& why) {
  if (!failure_.empty()) return;
  failure_ = why;
  if (is_first()) tell_all(MessageKind::lost, why);
}

void Meeting::tell_all(MessageKind kind, const std::string& bytes) {
  for (const auto& peer : peers_) {
    if (peer->number < 0 || peer->is_gone) continue;
    peer->connection.send(kind, bytes);  // where it fails, the next look sees that it is gone
  }
}

std::string Meeting::missing() const {
  std::string text;
  for (std::int64_t number = 1; number < place_.processes; ++number) {
    if (std::any_of(peers_.begin(), peers_.end(),
                    [&](const auto& peer) { return peer->number == number; }))
      continue;
    text += (text.empty() ? "process " : ", ") + std::to_string(number);
  }
  return text.empty() ? "a process" : text;
}

std::int64_t Meeting::members() const {
  return std::count_if(peers_.begin(), peers_.end(),
                       [](const auto& peer) { return peer->number > 0 && !peer->is_gone; });
}

std::int64_t Meeting::last_begin() const { return begins_.empty() ? -1 : begins_.rbegin()->first; }

// Once all are there: they stand in the order of their numbers.
Meeting::Peer& Meeting::process(std::int64_t number) {
  return **std::lower_bound(peers_.begin(), peers_.end(), number,
                            [](const auto& peer, std::int64_t n) { return peer->number < n; });
}

bool Meeting::all(bool (*is_so)(const Peer&)) const {
  return std::all_of(peers_.begin(), peers_.end(),
                     [&](const auto& peer) { return peer->number < 0 || is_so(*peer); });
}

}  // namespace loaderscope
