// A small HTTP server for scrapers: one thread, a few connections, a time limit for each.
#pragma once

#include <functional>
#include <list>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "base/fd.h"
#include "loaderscope/units.h"
#include "monitor/addresses.h"

struct pollfd;

namespace loaderscope::monitor {

struct HttpRequest {
  std::string method, path;  // path without the query
  std::string accept;        // values of Accept headers
};
struct HttpAnswer {
  int status = 200;
  std::string type;
  std::string body;
};

// Parses the text up to the empty line. Returns status 400 without a method if it is no request of
// HTTP/1.
bool parse_http_request(std::string_view head, HttpRequest& request);

class HttpServer {
 public:
  static constexpr std::size_t kMaxHead = 4096;      // bytes of a request
  static constexpr std::size_t kMaxConnections = 4;  // others wait in the queue of the kernel
  static constexpr Nanos kMaxTime = 2 * kSecond;     // time of a connection, with its answer

  // Called by the thread of the server for GET and HEAD.
  using Handler = std::function<HttpAnswer(const HttpRequest&)>;

  // Throws RunError if the address is in use, or is no address of this host.
  HttpServer(const ListenAddress& address, Handler handler);
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  const ListenAddress& address() const { return address_; }  // the port is the chosen one

 private:
  struct Client {
    Fd socket;
    Nanos until = 0;
    std::string head;  // up to kMaxHead bytes
    std::string answer{};
    std::size_t sent = 0;
    bool answers = false;
  };

  void serve();
  std::vector<pollfd> descriptors() const;
  int time_left(Nanos now) const;  // for poll(), in ms
  void accept_client(Nanos now);
  bool advance(Client& client);  // false: the connection ends
  bool receive(Client& client);
  bool send(Client& client);
  std::string answer_to(std::string_view head) const;

  ListenAddress address_;
  Handler handler_;
  Fd listener_, stop_;
  std::list<Client> clients_;
  std::thread thread_;
};

}  // namespace loaderscope::monitor
