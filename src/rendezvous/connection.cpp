#include "rendezvous/connection.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <set>
#include <utility>

#include "base/sleep.h"
#include "base/thread_meter.h"
#include "loaderscope/errors.h"

namespace loaderscope {
namespace {

constexpr std::size_t kLength = 4, kHeader = kLength + 1;

std::uint64_t number_at(std::string_view bytes, std::size_t at, std::size_t size) {
  std::uint64_t number = 0;
  for (std::size_t i = 0; i < size; ++i)
    number = number << 8 | static_cast<unsigned char>(bytes[at + i]);
  return number;
}

void append_number(std::string& bytes, std::uint64_t number, std::size_t size) {
  for (std::size_t i = size; i-- > 0;) bytes += static_cast<char>(number >> (8 * i) & 0xFF);
}

constexpr Nanos kTryAgain = 100 * kMillisecond;
constexpr Nanos kToAnswer = 3 * kSecond;
constexpr int kSecondsToSend = 5;
constexpr int kMaxAtOnce = 16;             // buffers
constexpr std::int64_t kOtherFiles = 256;  // other files that a process has open

void set_option(int socket, int level, int name, int value) {
  ::setsockopt(socket, level, name, &value, sizeof value);
}

using Addresses = std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)>;

// Returns null if the address does not resolve yet, and the reason in `why`.
Addresses resolve_address(const std::string& address, std::uint16_t port, bool is_last,
                          std::string& why) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const int error = ::getaddrinfo(address.c_str(), std::to_string(port).c_str(), &hints, &found);
  if (error != 0 && is_last)
    throw RunError(fmt::format("rendezvous: {} is no host's address here ({})", shown_text(address),
                               ::gai_strerror(error)),
                   "set MASTER_ADDR to one of process 0's host that all know");
  if (error != 0) why = ::gai_strerror(error);
  return {error == 0 ? found : nullptr, ::freeaddrinfo};
}

// -1 and errno.
Fd try_to_connect(const addrinfo& address, Nanos until, const StopSignal* stop) {
  Fd socket(::socket(address.ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (socket < 0 || ::connect(socket, address.ai_addr, address.ai_addrlen) == 0) return socket;
  if (errno != EINPROGRESS) return Fd();
  pollfd waits{socket, POLLOUT, 0};
  for (;;) {
    const int come = ::poll(&waits, 1, kTryAgain / kMillisecond);
    if (come > 0) break;
    if (come < 0 && errno != EINTR) return Fd();
    if (monotonic_now() < until && (stop == nullptr || *stop == 0)) continue;
    errno = ETIMEDOUT;
    return Fd();
  }
  int error = 0;
  socklen_t size = sizeof error;
  ::getsockopt(socket, SOL_SOCKET, SO_ERROR, &error, &size);
  if (error == 0) return socket;
  errno = error;
  return Fd();
}

sockaddr_storage socket_end(int socket, int (*get)(int, sockaddr*, socklen_t*)) {
  sockaddr_storage end{};
  socklen_t size = sizeof end;
  get(socket, reinterpret_cast<sockaddr*>(&end), &size);
  return end;
}

// -1 and errno. `is_one_family`: not IPv4 at an address of IPv6.
Fd try_to_listen(const sockaddr& address, socklen_t size, bool is_one_family) {
  Fd socket(::socket(address.sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (socket < 0) return socket;
  set_option(socket, SOL_SOCKET, SO_REUSEADDR, 1);
  if (address.sa_family == AF_INET6)
    set_option(socket, IPPROTO_IPV6, IPV6_V6ONLY, is_one_family ? 1 : 0);
  if (::bind(socket, &address, size) == 0 && ::listen(socket, SOMAXCONN) == 0) return socket;
  const int error = errno;
  socket = Fd();
  errno = error;
  return socket;
}

RunError cannot_listen(std::uint16_t port) {
  return RunError(
      fmt::format("rendezvous: port {} cannot be listened at ({})", port, std::strerror(errno)),
      "another job may have it: give each its own MASTER_PORT");
}

bool is_loopback(const sockaddr& address) {
  if (address.sa_family == AF_INET6)
    return IN6_IS_ADDR_LOOPBACK(&reinterpret_cast<const sockaddr_in6&>(address).sin6_addr) != 0;
  const auto& four = reinterpret_cast<const sockaddr_in&>(address);
  return address.sa_family == AF_INET && ntohl(four.sin_addr.s_addr) >> 24 == IN_LOOPBACKNET;
}

// The loopback is meant: all processes are on this host.
bool names_loopback(const std::string& address) {
  return address.starts_with("127.") || address == "::1" || address.starts_with("localhost") ||
         address.ends_with("-localhost");
}

// Returns true if the socket is connected to itself. If no process listens on this host yet, the
// kernel may give a connecting socket the same port as its target.
bool is_its_own_peer(int socket) {
  const sockaddr_storage own = socket_end(socket, ::getsockname),
                         peer = socket_end(socket, ::getpeername);
  return std::memcmp(&own, &peer, sizeof own) == 0;
}

}  // namespace

std::string framed(MessageKind kind, std::string_view bytes) {
  std::string message;
  message.reserve(kHeader + bytes.size());
  append_number(message, bytes.size(), kLength);
  message += static_cast<char>(kind);
  return message.append(bytes);
}

std::string packed(std::int64_t first, std::int64_t second) {
  std::string bytes;
  append_number(bytes, static_cast<std::uint64_t>(first), 8);
  append_number(bytes, static_cast<std::uint64_t>(second), 8);
  return bytes;
}

std::optional<Numbers> unpacked(const std::string& bytes) {
  if (bytes.size() != 16) return std::nullopt;
  return Numbers{static_cast<std::int64_t>(number_at(bytes, 0, 8)),
                 static_cast<std::int64_t>(number_at(bytes, 8, 8))};
}

std::size_t Inbox::room() const {
  const std::size_t most = kHeader + longest_;
  return held() < most ? most - held() : 0;
}

void Inbox::add(std::string_view bytes) {
  // No more is moved than was taken before.
  if (at_ > 0 && at_ >= held()) {
    moved_ += held();
    bytes_.erase(0, std::exchange(at_, 0));
  }
  bytes_.append(bytes);
}

std::optional<std::size_t> Inbox::size_of_next() const {
  if (held() < kHeader) return std::nullopt;
  return number_at(bytes_, at_, kLength);
}

bool Inbox::is_too_long() const {
  const std::optional<std::size_t> size = size_of_next();
  return size && *size > longest_;
}

std::optional<Message> Inbox::next() {
  const std::optional<std::size_t> size = size_of_next();
  if (!size || *size > longest_ || held() < kHeader + *size) return std::nullopt;
  Message message{static_cast<MessageKind>(bytes_[at_ + kLength]), ""};
  if (bytes_.size() == kHeader + *size) {  // a record is not there twice
    message.bytes = std::exchange(bytes_, "");
    message.bytes.erase(0, kHeader);
    return message;
  }
  message.bytes = bytes_.substr(at_ + kHeader, *size);
  at_ += kHeader + *size;
  if (held() == 0) {
    bytes_.clear();
    at_ = 0;
  }
  return message;
}

Connection::Connection(Fd socket) : socket_(std::move(socket)), received_at_(monotonic_now()) {
  set_option(socket_, IPPROTO_TCP, TCP_NODELAY, 1);
  const timeval most{kSecondsToSend, 0};
  ::setsockopt(socket_, SOL_SOCKET, SO_SNDTIMEO, &most, sizeof most);
  const int flags = ::fcntl(socket_, F_GETFL);
  ::fcntl(socket_, F_SETFL, flags & ~O_NONBLOCK);
}

bool Connection::send(MessageKind kind, const std::string& bytes, int times) {
  const std::string message = framed(kind, bytes);
  const std::lock_guard lock(sending_);
  for (std::size_t sent = 0; sent < message.size();) {
    const ssize_t n = ::send(socket_, message.data() + sent, message.size() - sent, MSG_NOSIGNAL);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && errno == EAGAIN && --times > 0) continue;
    if (n <= 0) {
      if (sent > 0) ::shutdown(socket_, SHUT_RDWR);
      return false;
    }
    sent += static_cast<std::size_t>(n);
  }
  return true;
}

bool Connection::receive() {
  char buffer[std::size_t{1} << 16];
  for (int i = 0; i < kMaxAtOnce; ++i) {
    const std::size_t room = std::min(sizeof buffer, inbox_.room());
    if (room == 0) return true;  // continues once a message has been taken
    const ssize_t n = ::recv(socket_, buffer, room, MSG_DONTWAIT);
    if (n < 0) return errno == EAGAIN || errno == EINTR;
    if (n == 0) return false;
    received_at_ = monotonic_now();
    inbox_.add({buffer, static_cast<std::size_t>(n)});
    if (is_too_long()) return false;
    if (static_cast<std::size_t>(n) < room) break;
  }
  return true;
}

std::vector<Fd> listen_at(const std::vector<std::string>& addresses, std::uint16_t port) {
  std::vector<Fd> listeners;
  std::set<std::string> seen;
  for (const std::string& address : addresses) {
    std::string why;
    const Addresses found = resolve_address(address, port, false, why);
    for (const addrinfo* one = found.get(); one != nullptr; one = one->ai_next) {
      const bool is_hidden = is_loopback(*one->ai_addr) && !names_loopback(address);
      const std::string bytes(reinterpret_cast<const char*>(one->ai_addr), one->ai_addrlen);
      if (is_hidden || !seen.insert(bytes).second) continue;
      Fd socket = try_to_listen(*one->ai_addr, one->ai_addrlen, true);
      if (socket >= 0) {
        listeners.push_back(std::move(socket));
      } else if (errno != EADDRNOTAVAIL && errno != EAFNOSUPPORT) {
        throw cannot_listen(port);
      }
    }
  }
  if (listeners.empty()) listeners.push_back(listen_everywhere(port));
  return listeners;
}

Fd listen_everywhere(std::uint16_t port) {
  sockaddr_in6 any{};
  any.sin6_family = AF_INET6;
  any.sin6_port = htons(port);
  Fd socket = try_to_listen(reinterpret_cast<const sockaddr&>(any), sizeof any, false);
  if (socket >= 0 || errno != EAFNOSUPPORT) {
    if (socket < 0) throw cannot_listen(port);
    return socket;
  }
  sockaddr_in any_of_four{};
  any_of_four.sin_family = AF_INET;
  any_of_four.sin_port = htons(port);
  socket = try_to_listen(reinterpret_cast<const sockaddr&>(any_of_four), sizeof any_of_four, false);
  if (socket < 0) throw cannot_listen(port);
  return socket;
}

std::uint16_t listening_port(int listener) {
  sockaddr_storage own{};
  socklen_t size = sizeof own;
  ::getsockname(listener, reinterpret_cast<sockaddr*>(&own), &size);
  return ntohs(own.ss_family == AF_INET6 ? reinterpret_cast<const sockaddr_in6&>(own).sin6_port
                                         : reinterpret_cast<const sockaddr_in&>(own).sin_port);
}

Fd connect_to(const std::vector<std::string>& addresses, std::uint16_t port, Nanos until,
              const StopSignal* stop) {
  std::string why;
  bool is_last = false;
  do {
    is_last = monotonic_now() + kTryAgain >= until;
    for (const std::string& address : addresses) {
      const Addresses found = resolve_address(address, port, is_last, why);
      for (const addrinfo* one = found.get(); one != nullptr; one = one->ai_next) {
        // One that does not answer at all is not the last that is tried.
        Fd socket = try_to_connect(*one, std::min(until, monotonic_now() + kToAnswer), stop);
        if (socket >= 0 && !is_its_own_peer(socket)) return socket;
        why = std::strerror(socket >= 0 ? ECONNREFUSED : errno);
      }
    }
    sleep_until(monotonic_now() + kTryAgain);
  } while (!is_last && monotonic_now() < until && (stop == nullptr || *stop == 0));
  throw RunError(
      fmt::format("rendezvous: process 0 does not answer at {} port {} ({})",
                  shown_text(fmt::format("{}", fmt::join(addresses, " or "))), port, why),
      "look whether it runs and can be reached from here at MASTER_ADDR and MASTER_PORT");
}

void allow_connections(std::int64_t processes) {
  const auto needed = static_cast<rlim_t>(processes + kOtherFiles);
  rlimit limit{};
  ::getrlimit(RLIMIT_NOFILE, &limit);
  if (limit.rlim_cur >= needed) return;
  if (limit.rlim_max < needed)
    throw RunError(
        fmt::format("rendezvous: process 0 needs {} open files for {} processes, and may have {}",
                    needed, processes, limit.rlim_max),
        fmt::format("raise its limit (ulimit -n {})", needed));
  limit.rlim_cur = needed;
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

}  // namespace loaderscope
