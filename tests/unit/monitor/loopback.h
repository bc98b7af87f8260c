// A client and a small collector on the loopback address.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <string>
#include <string_view>
#include <thread>

#include "base/fd.h"

namespace loaderscope::monitor::test {

inline sockaddr_in loopback(std::uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

inline Fd connect_loopback(std::uint16_t port) {
  Fd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const sockaddr_in address = loopback(port);
  if (::connect(socket, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
    return Fd();
  return socket;
}

inline std::string read_to_end(int socket) {
  std::string all;
  char bytes[4096];
  for (ssize_t count = 0; (count = ::recv(socket, bytes, sizeof bytes, 0)) > 0;)
    all.append(bytes, static_cast<std::size_t>(count));
  return all;
}

// Returns the whole answer to a request.
inline std::string ask(std::uint16_t port, std::string_view request) {
  const Fd socket = connect_loopback(port);
  ::send(socket, request.data(), request.size(), MSG_NOSIGNAL);
  return read_to_end(socket);
}

// Accepts one connection, keeps its request and sends `answer`. Without an answer, it keeps the
// connection open until its end.
class OneAnswer {
 public:
  explicit OneAnswer(std::string answer) : answer_(std::move(answer)) {
    sockaddr_in address = loopback(0);
    socklen_t size = sizeof address;
    ::bind(listener_, reinterpret_cast<sockaddr*>(&address), size);
    ::listen(listener_, 4);
    ::getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size);
    port_ = ntohs(address.sin_port);
    thread_ = std::thread([this] { serve(); });
  }
  ~OneAnswer() { finish(); }

  std::uint16_t port() const { return port_; }
  // Waits for the request. Only a closed connection ends it.
  const std::string& request() {
    finish();
    return request_;
  }

 private:
  void serve() {
    client_ = Fd(::accept(listener_, nullptr, nullptr));
    if (client_ < 0) return;
    if (answer_.empty()) {
      request_ = read_to_end(client_);
      return;
    }
    char bytes[4096];
    while (!is_complete()) {
      const ssize_t count = ::recv(client_, bytes, sizeof bytes, 0);
      if (count <= 0) break;
      request_.append(bytes, static_cast<std::size_t>(count));
    }
    ::send(client_, answer_.data(), answer_.size(), MSG_NOSIGNAL);
    ::shutdown(client_, SHUT_WR);
  }
  bool is_complete() const {
    constexpr std::string_view kLength = "Content-Length: ";
    const std::size_t end = request_.find("\r\n\r\n"), at = request_.find(kLength);
    if (end == request_.npos || at == request_.npos) return false;
    return request_.size() - end - 4 >= std::stoul(request_.substr(at + kLength.size()));
  }
  void finish() {
    if (thread_.joinable()) thread_.join();
  }

  std::string answer_, request_;
  Fd listener_{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)}, client_;
  std::uint16_t port_ = 0;
  std::thread thread_;
};

}  // namespace loaderscope::monitor::test
