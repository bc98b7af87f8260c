#include "monitor/otlp_push.h"

#include <fmt/format.h>
#include <netdb.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <condition_variable>
#include <cstring>
#include <mutex>
#include <optional>

#include "base/fd.h"
#include "base/thread_meter.h"

namespace loaderscope::monitor {
namespace {

constexpr Nanos kMaxTime = 5 * kSecond;  // limit for one request

// Waits for `events`; false at the time limit.
bool wait_for(int socket, short events, Nanos until) {
  for (;;) {
    const Nanos left = until - monotonic_now();
    if (left <= 0) return false;
    pollfd one{socket, events, 0};
    const int ready = ::poll(&one, 1, static_cast<int>(left / kMillisecond + 1));
    if (ready > 0) return true;
    if (ready < 0 && errno != EINTR) return false;
  }
}

struct AddressList {
  addrinfo* first = nullptr;
  AddressList() = default;
  AddressList(const AddressList&) = delete;
  AddressList& operator=(const AddressList&) = delete;
  ~AddressList() {
    if (first != nullptr) ::freeaddrinfo(first);
  }
};

struct Connected {
  Fd socket;
  std::string failure;  // "": connected
};

Connected connect_to_collector(const CollectorUrl& url, Nanos until) {
  AddressList found;
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  const std::string port = std::to_string(url.port);
  if (const int error = ::getaddrinfo(url.host.c_str(), port.c_str(), &hints, &found.first))
    return {Fd(), ::gai_strerror(error)};
  std::string failure = "it does not answer";
  for (const addrinfo* one = found.first; one != nullptr; one = one->ai_next) {
    Fd socket(::socket(one->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (::connect(socket, one->ai_addr, one->ai_addrlen) != 0 && errno != EINPROGRESS) {
      failure = std::strerror(errno);
      continue;
    }
    if (!wait_for(socket, POLLOUT, until)) continue;
    int error = 0;
    socklen_t size = sizeof error;
    ::getsockopt(socket, SOL_SOCKET, SO_ERROR, &error, &size);
    if (error == 0) return {std::move(socket), ""};
    failure = std::strerror(error);
  }
  return {Fd(), failure};
}

bool send_all(int socket, std::string_view text, Nanos until) {
  while (!text.empty()) {
    const ssize_t count = ::send(socket, text.data(), text.size(), MSG_NOSIGNAL);
    if (count < 0 && errno != EAGAIN && errno != EINTR) return false;
    if (count < 0 && !wait_for(socket, POLLOUT, until)) return false;
    if (count > 0) text.remove_prefix(static_cast<std::size_t>(count));
  }
  return true;
}

// Returns the status of the answer, or nothing if it is missing or is no HTTP.
std::optional<int> receive_status(int socket, Nanos until) {
  constexpr std::string_view kBegin = "HTTP/1.";
  constexpr std::size_t kStatusAt = kBegin.size() + 2, kStatusSize = 3;
  char bytes[kStatusAt + kStatusSize];
  std::size_t size = 0;
  while (size < sizeof bytes) {
    if (!wait_for(socket, POLLIN, until)) return std::nullopt;
    const ssize_t count = ::recv(socket, bytes + size, sizeof bytes - size, 0);
    if (count == 0 || (count < 0 && errno != EAGAIN && errno != EINTR)) return std::nullopt;
    if (count > 0) size += static_cast<std::size_t>(count);
  }
  int status = 0;
  const bool is_http = std::string_view(bytes, kBegin.size()) == kBegin;
  const auto [end, error] = std::from_chars(bytes + kStatusAt, bytes + sizeof bytes, status);
  if (!is_http || error != std::errc() || end != bytes + sizeof bytes) return std::nullopt;
  return status;
}

}  // namespace

std::string post_metrics(const CollectorUrl& url, const std::string& body, Nanos until) {
  const Connected connected = connect_to_collector(url, until);
  if (!connected.failure.empty()) return connected.failure;
  const std::string host = url.host.find(':') == url.host.npos ? url.host : "[" + url.host + "]";
  const std::string head = fmt::format(
      "POST {} HTTP/1.1\r\nHost: {}:{}\r\nContent-Type: application/json\r\n"
      "Content-Length: {}\r\nUser-Agent: loaderscope\r\nConnection: close\r\n\r\n",
      url.path, host, url.port, body.size());
  if (!send_all(connected.socket, head + body, until)) return "it does not accept the metrics";
  const std::optional<int> status = receive_status(connected.socket, until);
  if (!status) return "it does not answer";
  constexpr int kOk = 200, kNoSuccess = 300;
  return *status >= kOk && *status < kNoSuccess ? ""
                                                : fmt::format("it answers with status {}", *status);
}

struct OtlpPush::State {
  explicit State(Options given) : options(std::move(given)) {}

  // Reports only the first failure.
  void send(Nanos until) {
    const std::string failure = post_metrics(options.url, options.body(), until);
    if (failure.empty() || std::exchange(has_failed, true)) return;
    const std::lock_guard lock(mutex);
    if (!is_abandoned) options.report_failure(failure);
  }

  Options options;
  bool has_failed = false;  // used by the thread only
  std::mutex mutex;
  std::condition_variable changed;
  bool stops = false, has_ended = false;
  bool is_abandoned = false;  // the owner is gone
};

void OtlpPush::push(State& state) {
  std::unique_lock lock(state.mutex);
  const auto interval = std::chrono::nanoseconds(state.options.interval);
  while (!state.changed.wait_for(lock, interval, [&] { return state.stops; })) {
    lock.unlock();
    state.send(monotonic_now() + std::min(kMaxTime, state.options.interval));
    lock.lock();
  }
  if (!state.is_abandoned) {
    lock.unlock();
    state.send(monotonic_now() + kLastWait - kSecond / 10);
    lock.lock();
  }
  state.has_ended = true;
  state.changed.notify_all();
}

OtlpPush::OtlpPush(Options options)
    : state_(std::make_shared<State>(std::move(options))),
      thread_([state = state_] { push(*state); }) {}

OtlpPush::~OtlpPush() {
  std::unique_lock lock(state_->mutex);
  state_->stops = true;
  state_->changed.notify_all();
  const bool ended = state_->changed.wait_for(lock, std::chrono::nanoseconds(kLastWait),
                                              [&] { return state_->has_ended; });
  state_->is_abandoned = !ended;
  lock.unlock();
  if (ended)
    thread_.join();
  else
    thread_.detach();
}

}  // namespace loaderscope::monitor
