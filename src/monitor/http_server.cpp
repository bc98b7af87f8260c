#include "monitor/http_server.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <exception>
#include <span>

#include "base/printable.h"
#include "base/thread_meter.h"
#include "loaderscope/errors.h"

namespace loaderscope::monitor {
namespace {

struct SocketAddress {
  sockaddr_storage storage{};
  socklen_t size = 0;

  sockaddr* get() { return reinterpret_cast<sockaddr*>(&storage); }
};

SocketAddress socket_address(const ListenAddress& address) {
  SocketAddress result;
  auto* v4 = reinterpret_cast<sockaddr_in*>(&result.storage);
  auto* v6 = reinterpret_cast<sockaddr_in6*>(&result.storage);
  if (::inet_pton(AF_INET, address.host.c_str(), &v4->sin_addr) == 1) {
    v4->sin_family = AF_INET;
    v4->sin_port = htons(address.port);
    result.size = sizeof(sockaddr_in);
  } else {
    ::inet_pton(AF_INET6, address.host.c_str(), &v6->sin6_addr);
    v6->sin6_family = AF_INET6;
    v6->sin6_port = htons(address.port);
    result.size = sizeof(sockaddr_in6);
  }
  return result;
}

std::string reason(int error) {
  if (error == EADDRINUSE) return "the port is in use";
  if (error == EADDRNOTAVAIL) return "this host has no such address";
  if (error == EACCES) return "the port needs root";
  return std::strerror(error);
}

Fd listen_to(ListenAddress& address) {
  SocketAddress place = socket_address(address);
  Fd listener(::socket(place.storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  const int on = 1;
  const bool listens = listener >= 0 &&
                       ::setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) == 0 &&
                       ::bind(listener, place.get(), place.size) == 0 &&
                       ::listen(listener, static_cast<int>(HttpServer::kMaxConnections)) == 0 &&
                       ::getsockname(listener, place.get(), &place.size) == 0;
  if (!listens) throw RunError(spelled(address) + ": " + reason(errno));
  const auto* v4 = reinterpret_cast<const sockaddr_in*>(&place.storage);
  const auto* v6 = reinterpret_cast<const sockaddr_in6*>(&place.storage);
  address.port = ntohs(place.storage.ss_family == AF_INET ? v4->sin_port : v6->sin6_port);
  return listener;
}

std::string_view status_word(int status) {
  switch (status) {
    case 200:
      return "OK";
    case 400:
      return "Bad Request";
    case 404:
      return "Not Found";
    case 405:
      return "Method Not Allowed";
    default:
      return "Internal Server Error";
  }
}

std::string http_text(const HttpAnswer& answer, bool has_body) {
  const bool is_refused_method = answer.status == 405;
  return fmt::format(
      "HTTP/1.1 {} {}\r\nContent-Type: {}\r\nContent-Length: {}\r\n{}Connection: close\r\n\r\n{}",
      answer.status, status_word(answer.status), answer.type, answer.body.size(),
      is_refused_method ? "Allow: GET, HEAD\r\n" : "", has_body ? answer.body : "");
}

HttpAnswer refusal(int status) {
  return {status, "text/plain; charset=utf-8", fmt::format("{}\n", status_word(status))};
}

bool is_token(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(),
                                      [](char letter) { return letter >= 'A' && letter <= 'Z'; });
}

bool has_name(std::string_view line, std::string_view name) {
  return line.size() > name.size() && line[name.size()] == ':' &&
         std::equal(name.begin(), name.end(), line.begin(),
                    [](char a, char b) { return a == (b >= 'A' && b <= 'Z' ? b + 32 : b); });
}

bool may_retry(int error) { return error == EAGAIN || error == EINTR; }

}  // namespace

bool parse_http_request(std::string_view head, HttpRequest& request) {
  const std::vector<std::string_view> lines = split(head, '\n');
  const std::vector<std::string_view> words = split(trimmed(lines.front()), ' ');
  if (words.size() != 3 || !is_token(words[0]) || !words[1].starts_with('/') ||
      !words[2].starts_with("HTTP/1."))
    return false;
  request.method = words[0];
  request.path = words[1].substr(0, words[1].find('?'));
  for (const std::string_view line : std::span(lines).subspan(1)) {
    constexpr std::string_view kAccept = "accept";
    if (!has_name(line, kAccept)) continue;
    if (!request.accept.empty()) request.accept += ',';
    request.accept += trimmed(line.substr(kAccept.size() + 1));
  }
  return true;
}

HttpServer::HttpServer(const ListenAddress& address, Handler handler)
    : address_(address),
      handler_(std::move(handler)),
      listener_(listen_to(address_)),
      stop_(::eventfd(0, EFD_CLOEXEC)),
      thread_([this] { serve(); }) {}

HttpServer::~HttpServer() {
  ::eventfd_write(stop_, 1);
  thread_.join();
}

std::vector<pollfd> HttpServer::descriptors() const {
  std::vector<pollfd> all = {{stop_, POLLIN, 0}};
  const bool has_room = clients_.size() < kMaxConnections;
  all.push_back({has_room ? static_cast<int>(listener_) : -1, POLLIN, 0});
  for (const Client& client : clients_)
    all.push_back({client.socket, static_cast<short>(client.answers ? POLLOUT : POLLIN), 0});
  return all;
}

int HttpServer::time_left(Nanos now) const {
  if (clients_.empty()) return -1;
  Nanos left = kMaxTime;
  for (const Client& client : clients_) left = std::min(left, client.until - now);
  return static_cast<int>(std::max<Nanos>(0, left) / kMillisecond + 1);
}

void HttpServer::serve() {
  for (;;) {
    std::vector<pollfd> ready = descriptors();
    if (::poll(ready.data(), ready.size(), time_left(monotonic_now())) < 0 && errno != EINTR)
      return;
    if (ready[0].revents != 0) return;
    const Nanos now = monotonic_now();
    std::size_t at = 2;
    for (auto client = clients_.begin(); client != clients_.end(); ++at) {
      const bool stays = now < client->until && (ready[at].revents == 0 || advance(*client));
      client = stays ? std::next(client) : clients_.erase(client);
    }
    if (ready[1].revents != 0) accept_client(now);
  }
}

void HttpServer::accept_client(Nanos now) {
  Fd socket(::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
  if (socket < 0) {
    // Without descriptors, the listener stays readable: waits, so that this thread does not spin.
    pollfd stop{stop_, POLLIN, 0};
    if (!may_retry(errno)) ::poll(&stop, 1, 100);
    return;
  }
  clients_.push_back({std::move(socket), now + kMaxTime, ""});
}

bool HttpServer::advance(Client& client) { return client.answers ? send(client) : receive(client); }

bool HttpServer::receive(Client& client) {
  char bytes[kMaxHead];
  const ssize_t count = ::recv(client.socket, bytes, kMaxHead - client.head.size(), 0);
  if (count < 0) return may_retry(errno);
  client.head.append(bytes, static_cast<std::size_t>(count));
  const std::size_t end = client.head.find("\r\n\r\n");
  const bool is_complete = end != client.head.npos;
  // Garbage gets its answer at once, if its first line shows it.
  const std::size_t line = client.head.find('\n');
  HttpRequest request;
  const bool is_wrong =
      line != client.head.npos && !parse_http_request(client.head.substr(0, line), request);
  const bool is_over = count == 0 || client.head.size() >= kMaxHead;
  if (!is_complete && !is_wrong && !is_over) return true;
  if (count == 0 && client.head.empty()) return false;
  client.answer = is_complete && !is_wrong ? answer_to(client.head.substr(0, end))
                                           : http_text(refusal(400), true);
  client.answers = true;
  return send(client);
}

bool HttpServer::send(Client& client) {
  while (client.sent < client.answer.size()) {
    const ssize_t count = ::send(client.socket, client.answer.data() + client.sent,
                                 client.answer.size() - client.sent, MSG_NOSIGNAL);
    if (count < 0) return may_retry(errno);
    client.sent += static_cast<std::size_t>(count);
  }
  // Without this, bytes that were not read would reset the connection before the answer is read.
  ::shutdown(client.socket, SHUT_WR);
  char rest[kMaxHead];
  for (int i = 0; i < 16 && ::recv(client.socket, rest, sizeof rest, 0) > 0; ++i) {
  }
  return false;
}

std::string HttpServer::answer_to(std::string_view head) const {
  HttpRequest request;
  if (!parse_http_request(head, request)) return http_text(refusal(400), true);
  const bool is_head = request.method == "HEAD";
  if (!is_head && request.method != "GET") return http_text(refusal(405), true);
  try {
    return http_text(handler_(request), !is_head);
  } catch (const std::exception&) {  // such as a lack of memory
    return http_text(refusal(500), true);
  }
}

}  // namespace loaderscope::monitor
