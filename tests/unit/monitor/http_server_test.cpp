// The server against scrapers that behave well, and others.
#include "monitor/http_server.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>

#include "loaderscope/errors.h"
#include "unit/monitor/loopback.h"

namespace loaderscope::monitor {
namespace {

using test::ask;
using test::connect_loopback;
using test::read_to_end;
using testing::EndsWith;
using testing::HasSubstr;
using testing::StartsWith;

HttpAnswer echo(const HttpRequest& request) {
  if (request.path == "/broken") throw std::runtime_error("broken");
  if (request.path == "/large") return {200, "text/plain", std::string(1 << 22, 'x')};
  return {request.path == "/" ? 200 : 404, "text/plain", request.path + "|" + request.accept};
}

class HttpServerTest : public testing::Test {
 protected:
  std::string answer(std::string_view request) const { return ask(port(), request); }
  std::uint16_t port() const { return server_.address().port; }

  HttpServer server_{ListenAddress{}, echo};
};

TEST_F(HttpServerTest, AnswersGetAndHead) {
  EXPECT_EQ(answer("GET /?x=1 HTTP/1.1\r\nHost: a\r\nACCEPT:  b \r\nAccept: c\r\n\r\n"),
            "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 5\r\n"
            "Connection: close\r\n\r\n/|b,c");
  const std::string head = answer("HEAD / HTTP/1.0\r\n\r\n");
  EXPECT_THAT(head, HasSubstr("Content-Length: 2\r\n"));
  EXPECT_THAT(head, EndsWith("\r\n\r\n"));
}

TEST_F(HttpServerTest, RejectsOtherPathsAndMethods) {
  EXPECT_THAT(answer("GET /x HTTP/1.1\r\n\r\n"), StartsWith("HTTP/1.1 404 Not Found\r\n"));
  EXPECT_THAT(answer("POST / HTTP/1.1\r\nContent-Length: 2\r\n\r\nab"),
              testing::AllOf(StartsWith("HTTP/1.1 405 "), HasSubstr("Allow: GET, HEAD\r\n")));
  EXPECT_THAT(answer("GET /broken HTTP/1.1\r\n\r\n"), StartsWith("HTTP/1.1 500 "));
}

TEST_F(HttpServerTest, AnswersGarbageAtOnce) {
  const std::string tls("\x16\x03\x01\x02\x00\x01\x00\n", 8);
  for (const std::string& request :
       {std::string("garbage\n"), tls, std::string("GET /\r\n\r\n"), std::string(" / HTTP/1.1\n"),
        std::string("GET x HTTP/1.1\n"), std::string("GET / HTTP/2.0\r\n\r\n"), std::string("\n"),
        std::string(HttpServer::kMaxHead * 4, 'x'),
        "GET / HTTP/1.1\r\nA: " + std::string(HttpServer::kMaxHead * 4, 'x') + "\r\n\r\n"})
    EXPECT_THAT(answer(request), StartsWith("HTTP/1.1 400 Bad Request\r\n"));
  EXPECT_THAT(answer("GET / HTTP/1.1\r\n\r\n"), StartsWith("HTTP/1.1 200 OK\r\n"));
}

TEST_F(HttpServerTest, AnswersWhileSlowClientsWait) {
  std::vector<Fd> slow;
  for (std::size_t i = 0; i < HttpServer::kMaxConnections; ++i) {
    slow.push_back(connect_loopback(port()));
    ::send(slow.back(), "GET", 3, MSG_NOSIGNAL);
  }
  // Waits in the queue of the kernel until the time of the others is over.
  EXPECT_THAT(answer("GET / HTTP/1.1\r\n\r\n"), StartsWith("HTTP/1.1 200 OK\r\n"));
  for (const Fd& one : slow) EXPECT_EQ(read_to_end(one), "");
}

TEST_F(HttpServerTest, AcceptsRequestInPieces) {
  const Fd client = connect_loopback(port());
  for (const char letter : std::string_view("GET / HTTP/1.1\r\n\r\n"))
    ::send(client, &letter, 1, MSG_NOSIGNAL);
  EXPECT_THAT(read_to_end(client), StartsWith("HTTP/1.1 200 OK\r\n"));
}

TEST_F(HttpServerTest, SendsLargeAnswersWhole) {
  const std::string all = answer("GET /large HTTP/1.1\r\n\r\n");
  EXPECT_EQ(all.size() - all.find("\r\n\r\n") - 4, std::size_t{1} << 22);
}

TEST_F(HttpServerTest, StopsWithClientsThatReadNothing) {
  const Fd client = connect_loopback(port());
  constexpr std::string_view kRequest = "GET /large HTTP/1.1\r\n\r\n";
  ::send(client, kRequest.data(), kRequest.size(), MSG_NOSIGNAL);
  const Fd silent = connect_loopback(port());
  EXPECT_THAT(answer("GET / HTTP/1.1\r\n\r\n"), StartsWith("HTTP/1.1 200 OK\r\n"));
}

TEST_F(HttpServerTest, NamesPortInUse) {
  ListenAddress address = server_.address();
  try {
    const HttpServer second(address, echo);
    FAIL() << "two servers listen to one port";
  } catch (const RunError& error) {
    EXPECT_EQ(error.sentence(), spelled(address) + ": the port is in use");
  }
  address.host = "203.0.113.7";
  EXPECT_THROW(HttpServer(address, echo), RunError);
}

}  // namespace
}  // namespace loaderscope::monitor
