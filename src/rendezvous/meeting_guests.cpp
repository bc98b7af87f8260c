// Who comes to a meeting, and who may.
#include <fmt/format.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "base/thread_meter.h"
#include "loaderscope/errors.h"
#include "rendezvous/meeting.h"

namespace loaderscope {
namespace {

constexpr std::string_view kOurs = "loaderscope meeting 3";
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

// Of a CPU quota; 0 where none is said.
double quota_in_line(std::string_view& text) {
  const std::string line = next_line(text);
  double quota = 0;
  std::from_chars(line.data(), line.data() + line.size(), quota);
  return std::isfinite(quota) ? quota : 0;
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
      fmt::format("{}\n{}\n{}\n{}\n{}\n{}\n{}\n{}\n{}\n{}\n{}\n{}", kOurs, place_.job, own_.version,
                  place_.number, place_.processes, own_.ranks, own_.host, own_.boot, own_.cpus.list,
                  own_.cpus.quota, own_.cpus.group, own_.settings);
  if (hello.size() > kLongestHello)
    throw RunError(fmt::format(
        "rendezvous: the settings of the job are {} MB, and process 0 takes {}; give fewer --data",
        hello.size() >> 20, kLongestHello >> 20));
  if (!peer->connection.send(MessageKind::hello, hello))
    throw RunError("rendezvous: process 0 has ended; look at what it says");
  attend_to(*peer);
  peers_.push_back(std::move(peer));
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

// Strangers take room for a while; where none can be taken, it is looked again later.
void Meeting::let_many_come(bool can_take_one, Nanos now) {
  if (!can_take_one) come_at_ = now + kComeAgain;
  const bool listens = place_.listener >= 0 && has_room() && now >= come_at_;
  if (listens == listens_) return;
  epoll_event event{EPOLLIN, {.ptr = nullptr}};
  ::epoll_ctl(events_, listens ? EPOLL_CTL_ADD : EPOLL_CTL_DEL, place_.listener, &event);
  listens_ = listens;
}

void Meeting::take_hello(Peer& peer, const std::string& bytes) {
  std::string_view text = bytes;
  const std::string ours = next_line(text), job = next_line(text);
  peer.of.version = next_line(text);
  const std::int64_t number = number_in_line(text), processes = number_in_line(text);
  peer.of.ranks = number_in_line(text);
  peer.of.host = next_line(text);
  peer.of.boot = next_line(text);
  peer.of.cpus.list = next_line(text);
  peer.of.cpus.quota = quota_in_line(text);
  peer.of.cpus.group = next_line(text);
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

}  // namespace loaderscope
