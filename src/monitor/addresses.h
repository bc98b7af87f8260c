// Addresses of --metrics and --otlp.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace loaderscope::monitor {

struct ListenAddress {
  std::string host = "127.0.0.1";  // a number, without brackets
  std::uint16_t port = 0;          // 0: a free port
};
// Parses ":9400", "9400", "127.0.0.1:9400", "localhost:9400" and "[::1]:9400". Without a host, the
// address is loopback. Throws ValueError.
ListenAddress parse_listen_address(std::string_view text);
std::string spelled(const ListenAddress& address);  // "127.0.0.1:9400", "[::1]:9400"

struct CollectorUrl {
  std::string host;
  std::uint16_t port = 4318;
  std::string path = "/v1/metrics";
};
// Parses "http://HOST[:PORT][/PATH]", without a user. "/v1/metrics" is added to a path without it.
// Throws ValueError.
CollectorUrl parse_collector_url(std::string_view text);
std::string spelled(const CollectorUrl& url);

}  // namespace loaderscope::monitor
