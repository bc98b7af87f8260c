#include "monitor/addresses.h"

#include <arpa/inet.h>
#include <fmt/format.h>

#include <charconv>
#include <optional>

#include "loaderscope/errors.h"

namespace loaderscope::monitor {
namespace {

constexpr std::string_view kPath = "/v1/metrics";

std::optional<std::uint16_t> read_port(std::string_view text) {
  std::uint16_t port = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return port;
}

struct HostPort {
  std::string host, port;  // texts; empty if missing
};

// Splits "HOST:PORT", "[HOST]:PORT" and "HOST". An address with several colons needs brackets.
std::optional<HostPort> split_host(std::string_view text) {
  if (text.starts_with('[')) {
    const std::size_t end = text.find(']');
    if (end == text.npos) return std::nullopt;
    const std::string_view rest = text.substr(end + 1);
    if (!rest.empty() && !rest.starts_with(':')) return std::nullopt;
    return HostPort{std::string(text.substr(1, end - 1)),
                    std::string(rest.empty() ? rest : rest.substr(1))};
  }
  const std::size_t colon = text.find(':');
  if (colon != text.rfind(':')) return std::nullopt;
  if (colon == text.npos) return HostPort{std::string(text), ""};
  return HostPort{std::string(text.substr(0, colon)), std::string(text.substr(colon + 1))};
}

bool is_numeric(const std::string& host) {
  in6_addr address{};
  return ::inet_pton(AF_INET, host.c_str(), &address) == 1 ||
         ::inet_pton(AF_INET6, host.c_str(), &address) == 1;
}

std::string bracketed(const std::string& host) {
  return host.find(':') == host.npos ? host : "[" + host + "]";
}

bool is_plain(std::string_view text) { return text.find_first_of(" \t\r\n@?#") == text.npos; }

}  // namespace

ListenAddress parse_listen_address(std::string_view text) {
  const ValueError refusal(
      "expected a port, or an address and a port",
      "give :9400, 127.0.0.1:9400, [::1]:9400 or, for all hosts, 0.0.0.0:9400");
  ListenAddress address;
  if (const auto port = read_port(text)) {
    address.port = *port;
    return address;
  }
  const std::optional<HostPort> parts = split_host(text);
  const auto port = parts ? read_port(parts->port) : std::nullopt;
  if (!port) throw refusal;
  address.port = *port;
  if (!parts->host.empty() && parts->host != "localhost") address.host = parts->host;
  if (!is_numeric(address.host)) throw refusal;
  return address;
}

std::string spelled(const ListenAddress& address) {
  return fmt::format("{}:{}", bracketed(address.host), address.port);
}

CollectorUrl parse_collector_url(std::string_view text) {
  constexpr std::string_view kHttp = "http://";
  if (text.starts_with("https://"))
    throw ValueError("https is not supported",
                     "send to a collector on this host, and let it forward the metrics");
  const ValueError refusal("expected http://HOST:PORT", "give http://127.0.0.1:4318");
  if (!text.starts_with(kHttp) || !is_plain(text)) throw refusal;
  text.remove_prefix(kHttp.size());
  const std::size_t slash = std::min(text.find('/'), text.size());
  const std::optional<HostPort> parts = split_host(text.substr(0, slash));
  if (!parts || parts->host.empty()) throw refusal;
  CollectorUrl url;
  url.host = parts->host;
  if (!parts->port.empty()) {
    const auto port = read_port(parts->port);
    if (!port || *port == 0) throw refusal;
    url.port = *port;
  }
  std::string path(text.substr(slash));
  while (path.ends_with('/')) path.pop_back();
  url.path = path.ends_with(kPath) ? path : path + std::string(kPath);
  return url;
}

std::string spelled(const CollectorUrl& url) {
  return fmt::format("http://{}:{}{}", bracketed(url.host), url.port, url.path);
}

}  // namespace loaderscope::monitor
