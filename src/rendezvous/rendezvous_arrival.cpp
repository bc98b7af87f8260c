// A process comes to process 0.
#include <fmt/format.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <string>
#include <utility>

#include "base/secret.h"
#include "base/sleep.h"
#include "base/thread_meter.h"
#include "loaderscope/errors.h"
#include "rendezvous/process_address.h"
#include "rendezvous/rendezvous.h"

namespace loaderscope {
namespace {

// Process 0 answers at once, but its host may be busy.
constexpr Nanos kFirstToAnswer = 10 * kSecond;
constexpr Nanos kComeOnceMore = kSecond / 10;

constexpr std::int64_t kMaxRanks = 1'000'000;  // limit for one process
constexpr Nanos kComeAgain = kSecond / 10;
// A stranger has this time to prove that it knows the token, however it spends it.
constexpr Nanos kToProve = 2 * kSecond;
// The same while strangers have all the room. A process of the job needs two round trips.
constexpr Nanos kToProveInCrowd = kSecond / 4;

}  // namespace

void Rendezvous::come_to_first(Nanos until) {
  std::unique_ptr<Peer> peer;
  for (;;) {
    peer = std::make_unique<Peer>(connect_to(place_.addresses, place_.port, until, stop_signal_));
    if (prove_to_first(peer->connection)) break;
    // Process 0 closes connections that took too long, and when strangers crowd it.
    if (monotonic_now() >= until || (stop_signal_ != nullptr && *stop_signal_ != 0))
      throw RunError(
          fmt::format(
              "rendezvous: process 0 does not answer at {} port {} (it ended the connection)",
              shown_text(place_.addresses.front()), place_.port),
          "install one version of loaderscope on all hosts, and give each job its own "
          "MASTER_PORT");
    sleep_until(monotonic_now() + kComeOnceMore);
  }
  peer->number = 0;
  peer->connection.allow(kMaxWord);
  introduce_to_first(peer->connection);
  attend_to(*peer);
  peers_.push_back(std::move(peer));
}

bool Rendezvous::prove_to_first(Connection& first) {
  const Nanos until = monotonic_now() + kFirstToAnswer;
  Once once{random_bytes(kOnceBytes), ""};
  if (!first.send(MessageKind::hello, hello_text(once.comer_once))) return false;
  const std::optional<Message> challenge = next_of_first(first, until);
  if (!challenge || challenge->kind != MessageKind::challenge ||
      challenge->bytes.size() != kOnceBytes)
    return false;
  once.first_once = challenge->bytes;
  const Claim claim{digest_of_job(place_.job), place_.number, place_.processes};
  if (!first.send(MessageKind::proof, make_proof(place_.token, once, claim))) return false;
  const std::optional<Message> answer = next_of_first(first, until);
  if (!answer) return false;
  if (answer->kind == MessageKind::accepted && is_answer(place_.token, once, answer->bytes))
    return true;
  throw RunError(
      fmt::format("rendezvous: process 0 at {} port {} has another token than this process",
                  shown_text(place_.addresses.front()), place_.port),
      fmt::format("set {} to one random text for all processes of the job, and give each job its "
                  "own MASTER_PORT",
                  kTokenVariable));
}

// Returns nothing if process 0 ended, or sent nothing until then.
std::optional<Message> Rendezvous::next_of_first(Connection& first, Nanos until) const {
  for (;;) {
    if (std::optional<Message> message = first.next()) return message;
    pollfd waits{first.fd(), POLLIN, 0};
    ::poll(&waits, 1, kComeOnceMore / kMillisecond);
    if (waits.revents != 0 && !first.receive()) return first.next();
    const bool is_stopped = stop_signal_ != nullptr && *stop_signal_ != 0;
    if (monotonic_now() >= until || is_stopped) return std::nullopt;
  }
}

void Rendezvous::introduce_to_first(Connection& first) const {
  const std::string own = spelled(own_);
  if (own.size() > kMaxIntroduction)
    throw RunError(
        fmt::format("rendezvous: the settings of the job are {} MB, and process 0 takes {}",
                    own.size() >> 20, kMaxIntroduction >> 20),
        "give fewer --data");
  if (!first.send(MessageKind::introduction, own))
    throw RunError("rendezvous: process 0 has ended", "look at what it says");
}

bool Rendezvous::has_room() const {
  return std::count_if(peers_.begin(), peers_.end(),
                       [](const auto& peer) { return peer->number < 0; }) < kMaxStrangers;
}

bool Rendezvous::let_one_come() {
  bool can_take = true;
  for (const Fd& listener : place_.listeners) {
    Fd socket(::accept4(listener, nullptr, nullptr, SOCK_CLOEXEC));
    if (socket < 0) {
      can_take = can_take && (errno == EAGAIN || errno == ECONNABORTED || errno == EINTR);
      continue;
    }
    peers_.push_back(std::make_unique<Peer>(std::move(socket)));
    peers_.back()->came_at = monotonic_now();
    attend_to(*peers_.back());
  }
  return can_take;
}

// If none can be taken, it tries again later.
void Rendezvous::let_many_come(bool can_take_one, Nanos now) {
  if (!can_take_one) come_at_ = now + kComeAgain;
  const bool listens = !place_.listeners.empty() && has_room() && now >= come_at_;
  if (listens == listens_) return;
  for (const Fd& listener : place_.listeners) {
    epoll_event event{EPOLLIN, {.ptr = nullptr}};
    ::epoll_ctl(events_, listens ? EPOLL_CTL_ADD : EPOLL_CTL_DEL, listener, &event);
  }
  listens_ = listens;
}

// Silence does not count: a stranger may send a byte at a time.
void Rendezvous::drop_strangers(Nanos now) {
  const Nanos most = has_room() ? kToProve : kToProveInCrowd;
  for (const auto& peer : peers_) {
    if (peer->number >= 0 || peer->is_gone || now - peer->came_at <= most) continue;
    peer->is_gone = true;
    forget(*peer);
  }
}

void Rendezvous::take_of_stranger(Peer& peer, const Message& message) {
  if (message.kind == MessageKind::hello && peer.once.first_once.empty()) {
    take_hello(peer, message.bytes);
  } else if (message.kind == MessageKind::proof && !peer.once.first_once.empty()) {
    take_proof(peer, message.bytes);
  } else {
    refused_ = "what it said was none of ours";
    peer.is_gone = true;
  }
}

void Rendezvous::take_hello(Peer& peer, const std::string& bytes) {
  const std::optional<std::string> once = once_in_hello(bytes);
  if (!once) {
    refused_ = "it is no loaderscope, or of another version";
    peer.is_gone = true;
    return;
  }
  peer.once = {*once, random_bytes(kOnceBytes)};
  peer.connection.send(MessageKind::challenge, peer.once.first_once);
}

// A stranger learns nothing but that it does not know the token.
void Rendezvous::take_proof(Peer& peer, const std::string& bytes) {
  const std::optional<Claim> claim = proven_claim(place_.token, peer.once, bytes);
  if (!claim) {
    refused_ = "its token is another";
    peer.connection.send(MessageKind::refusal);
    peer.is_gone = true;
    return;
  }
  peer.connection.send(MessageKind::accepted, make_answer(place_.token, peer.once));
  if (const std::string why = why_not_place(*claim); !why.empty()) return refuse(peer, why);
  peer.number = claim->number;
  peer.connection.allow(kMaxIntroduction);
}

void Rendezvous::refuse(Peer& peer, const std::string& why) {
  refused_ = why;
  peer.connection.send(MessageKind::refusal, "rendezvous: " + why);
  peer.is_gone = true;
  peer.number = -1;
}

void Rendezvous::take_introduction(Peer& peer, const std::string& bytes) {
  peer.hello = parse_introduction(bytes);
  if (peer.hello.ranks < 1 || peer.hello.ranks > kMaxRanks)
    return refuse(peer, fmt::format("process {} has {} ranks; give 1 to {}", peer.number,
                                    peer.hello.ranks, kMaxRanks));
  peer.is_introduced = true;
  peer.connection.allow(kMaxWord);
  const std::string who = fmt::format("process {} on {}", peer.number, shown_text(peer.hello.host));
  if (const std::string why = find_difference(who, peer.hello, own_); !why.empty()) {
    peer.connection.send(MessageKind::refusal, why);
    fail(why);
  }
}

// Returns why a process that knows the token cannot have the place that it claims; "": it can.
std::string Rendezvous::why_not_place(const Claim& claim) const {
  if (claim.job != digest_of_job(place_.job))
    return fmt::format("at port {} another job meets; give each its own MASTER_PORT", place_.port);
  if (claim.number < 1 || claim.number >= place_.processes || claim.processes != place_.processes)
    return fmt::format(
        "process {} of {} came to process 0 of {}; start all by one command, or give each job its "
        "own MASTER_PORT",
        claim.number, claim.processes, place_.processes);
  if (std::any_of(peers_.begin(), peers_.end(),
                  [&](const auto& one) { return one->number == claim.number; }))
    return fmt::format("process {} is there already; give each job its own MASTER_PORT",
                       claim.number);
  return "";
}

// Sorts the processes by number and welcomes them.
void Rendezvous::welcome_all() {
  std::sort(peers_.begin(), peers_.end(),
            [](const auto& one, const auto& other) { return one->number < other->number; });
  ranks_ = own_.ranks;
  for (const auto& peer : peers_) ranks_ += peer->number > 0 ? peer->hello.ranks : 0;
  std::int64_t first = own_.ranks;
  for (const auto& peer : peers_) {
    if (peer->number < 0) continue;
    peer->connection.send(MessageKind::welcome, packed(first, ranks_));
    first += peer->hello.ranks;
  }
  welcome_ = true;
  place_.listeners.clear();  // no process comes any more
  listens_ = false;
}

std::string Rendezvous::missing() const {
  std::string text;
  for (std::int64_t number = 1; number < place_.processes; ++number) {
    if (std::any_of(peers_.begin(), peers_.end(),
                    [&](const auto& peer) { return peer->number == number; }))
      continue;
    text += (text.empty() ? "process " : ", ") + std::to_string(number);
  }
  return text.empty() ? "a process" : text;
}

std::int64_t Rendezvous::members() const {
  return std::count_if(peers_.begin(), peers_.end(),
                       [](const auto& peer) { return peer->is_introduced && !peer->is_gone; });
}

}  // namespace loaderscope
