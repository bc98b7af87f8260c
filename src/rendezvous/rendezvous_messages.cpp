// The messages that arrive at a rendezvous.
#include <fmt/format.h>
#include <sys/epoll.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "base/printable.h"
#include "base/thread_meter.h"
#include "loaderscope/errors.h"
#include "rendezvous/rendezvous.h"

namespace loaderscope {
namespace {

constexpr int kLookEveryMs = 100;

std::string bounded_sentence(const std::string& bytes) {
  constexpr std::size_t kMaxLength = 2000;
  return printable(std::string_view(bytes).substr(0, kMaxLength));
}

}  // namespace

void Rendezvous::attend_to(Peer& peer) {
  epoll_event event{EPOLLIN, {.ptr = &peer}};
  if (::epoll_ctl(events_, EPOLL_CTL_ADD, peer.connection.fd(), &event) != 0) peer.is_gone = true;
}

// A thread's: takes what comes, and sees who is silent. What one says costs the same whatever the
// number of the others.
void Rendezvous::serve() {
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
      for (int i = 0; i < count; ++i) handle_event(come[i].data.ptr, now);
      if (now - looked_at >= kLookEveryMs * kMillisecond) {
        read_all_peers(now);
        looked_at = now;
      }
      // A refused process counts as a member, but receives no further message.
      if (is_first() && !welcome_ && failure_.empty() && members() == place_.processes - 1)
        welcome_all();
      if (now - beaten_at >= kSecond) {
        send_all(MessageKind::beat, packed(progress_));
        beaten_at = now;
      }
      if (last_begin() != begins) call = on_begin_;
      changed_.notify_all();
    }
    if (call) call();
  }
}

void Rendezvous::handle_event(void* who, Nanos now) {
  if (who == nullptr) return let_many_come(let_one_come(), now);
  Peer& peer = *static_cast<Peer*>(who);
  if (!peer.is_gone) read_peer(peer, true, now);
  if (peer.is_gone) forget(peer);
}

// To close its socket is not enough: forked workers may have it, too.
void Rendezvous::forget(Peer& peer) {
  ::epoll_ctl(events_, EPOLL_CTL_DEL, peer.connection.fd(), nullptr);
}

void Rendezvous::read_all_peers(Nanos now) {
  for (const auto& peer : peers_) {
    if (peer->is_gone) continue;
    read_peer(*peer, false, now);
    if (peer->is_gone) forget(*peer);
  }
  drop_strangers(now);
  std::erase_if(peers_, [](const auto& peer) { return peer->is_gone && peer->number < 0; });
  let_many_come(true, now);
}

void Rendezvous::read_peer(Peer& peer, bool has_come, Nanos now) {
  const bool lives = !has_come || peer.connection.receive();
  while (!peer.is_gone) {
    std::optional<Message> message = peer.connection.next();
    if (!message) break;
    take(peer, std::move(*message));
  }
  if (peer.is_gone) return;
  if (peer.number < 0 && peer.connection.is_too_long())
    refused_ = "what it said was longer than any of ours";
  if (peer.connection.has_partial_message() && has_come) {
    peer.got_on_at = now;
    ++progress_;  // other processes that wait see this progress
  }
  // Process 0 may itself wait for another that does not get on.
  const Nanos progress = patience_.progress * (is_first() ? 1 : 2);
  if (!lives) {
    lose(peer, "has ended");
  } else if (now - peer.connection.received_at() > patience_.silence) {
    lose(peer, "sent nothing for " + format_duration(patience_.silence));
  } else if (peer.is_awaited && !peer.record && now - peer.got_on_at > progress) {
    lose(peer, "lives and has handed nothing over for " + format_duration(progress));
  }
}

void Rendezvous::take(Peer& peer, Message message) {
  if (peer.number < 0) return take_of_stranger(peer, message);
  if (is_first() && !peer.is_introduced) {
    if (message.kind == MessageKind::introduction) take_introduction(peer, message.bytes);
    return;
  }
  const std::optional<Numbers> numbers = unpacked(message.bytes);
  switch (message.kind) {
    case MessageKind::refusal:
    case MessageKind::lost:
      fail(is_first() ? fmt::format("process {} on {}: {}", peer.number,
                                    shown_text(peer.hello.host), bounded_sentence(message.bytes))
                      : bounded_sentence(message.bytes));
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
        send_all(MessageKind::go, "");
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
      peer.connection.allow(kMaxWord);
      break;
    case MessageKind::thanks:
      thanked_ = true;
      break;
    case MessageKind::beat:
      if (!numbers || std::exchange(peer.progress, numbers->first) == numbers->first) break;
      peer.got_on_at = monotonic_now();
      break;
    case MessageKind::hello:
    case MessageKind::challenge:
    case MessageKind::proof:
    case MessageKind::accepted:
    case MessageKind::introduction:
      break;
  }
}

// After its record, or at the end of the job, a process may go.
void Rendezvous::lose(Peer& peer, const std::string& how) {
  peer.is_gone = true;
  if (is_first() && !peer.is_introduced) peer.number = -1;  // the process may come again
  if (peer.number < 0 || peer.record || peer.is_done || thanked_ || stop_) return;
  if (is_first()) {
    fail(
        fmt::format("rendezvous: process {} on {} {}; the job ends with what was measured until "
                    "then",
                    peer.number, shown_text(peer.hello.host), how));
  } else {
    fail(fmt::format("rendezvous: process 0 at {} {}; look at what it says",
                     shown_text(place_.addresses.front()), how));
  }
}

void Rendezvous::fail(const std::string& why) {
  if (!failure_.empty()) return;
  failure_ = why;
  if (is_first()) send_all(MessageKind::lost, why.substr(0, kMaxWord));
}

void Rendezvous::send_all(MessageKind kind, const std::string& bytes) {
  for (const auto& peer : peers_) {
    if (peer->number < 0 || peer->is_gone) continue;
    peer->connection.send(kind, bytes);  // after a failure, the next poll notices that the peer is
                                         // gone
  }
}

std::int64_t Rendezvous::last_begin() const {
  return begins_.empty() ? -1 : begins_.rbegin()->first;
}

// Requires that all are there, sorted by their numbers.
Rendezvous::Peer& Rendezvous::process(std::int64_t number) {
  return **std::lower_bound(peers_.begin(), peers_.end(), number,
                            [](const auto& peer, std::int64_t n) { return peer->number < n; });
}

bool Rendezvous::all(bool (*is_so)(const Peer&)) const {
  return std::all_of(peers_.begin(), peers_.end(),
                     [&](const auto& peer) { return peer->number < 0 || is_so(*peer); });
}

}  // namespace loaderscope
