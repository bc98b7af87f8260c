#include "rendezvous/local_addresses.h"

#include <ifaddrs.h>
#include <net/if.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <memory>

namespace loaderscope {
namespace {

// "": it is of another kind, or of one link alone, where its name would be needed too.
std::string text_of(const sockaddr& address) {
  if (address.sa_family == AF_INET6) {
    const auto& six = reinterpret_cast<const sockaddr_in6&>(address);
    if (IN6_IS_ADDR_LINKLOCAL(&six.sin6_addr)) return "";
  } else if (address.sa_family != AF_INET) {
    return "";
  }
  char text[NI_MAXHOST] = "";
  const socklen_t size = address.sa_family == AF_INET6 ? sizeof(sockaddr_in6) : sizeof(sockaddr_in);
  return ::getnameinfo(&address, size, text, sizeof text, nullptr, 0, NI_NUMERICHOST) == 0 ? text
                                                                                           : "";
}

}  // namespace

std::vector<std::string> own_addresses() {
  ifaddrs* found = nullptr;
  if (::getifaddrs(&found) != 0) return {"127.0.0.1"};
  const std::unique_ptr<ifaddrs, decltype(&::freeifaddrs)> all(found, ::freeifaddrs);
  std::vector<std::string> outside, inside;
  for (const ifaddrs* one = found; one != nullptr; one = one->ifa_next) {
    if (one->ifa_addr == nullptr || (one->ifa_flags & IFF_UP) == 0) continue;
    const std::string text = text_of(*one->ifa_addr);
    if (text.empty()) continue;
    ((one->ifa_flags & IFF_LOOPBACK) != 0 ? inside : outside).push_back(text);
  }
  std::stable_partition(outside.begin(), outside.end(),
                        [](const std::string& text) { return text.find(':') == text.npos; });
  outside.insert(outside.end(), inside.begin(), inside.end());
  return outside;
}

}  // namespace loaderscope
