// Requests of scrapers, addresses of flags, and paths of cgroups. The first byte chooses the
// reader. Each text is accepted or rejected, and labels are UTF-8.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "base/utf8.h"
#include "loaderscope/errors.h"
#include "machine/container.h"
#include "monitor/addresses.h"
#include "monitor/http_server.h"
#include "monitor/live_metric.h"
#include "monitor/metrics_text.h"

namespace {

using namespace loaderscope;

void demand(bool condition) {
  if (!condition) std::abort();
}

void read(unsigned what, const std::string& text) {
  if (what == 0) {
    monitor::HttpRequest request;
    if (monitor::parse_http_request(text, request)) demand(request.path.starts_with('/'));
    static_cast<void>(monitor::preferred_format(request.accept));
  } else if (what == 1) {
    const monitor::ListenAddress address = monitor::parse_listen_address(text);
    demand(spelled(monitor::parse_listen_address(spelled(address))) == spelled(address));
  } else if (what == 2) {
    const monitor::CollectorUrl url = monitor::parse_collector_url(text);
    demand(spelled(monitor::parse_collector_url(spelled(url))) == spelled(url));
  } else if (what == 3) {
    const ContainerPath path = parse_container_path(text);
    demand(path.container_id.empty() || path.container_id.size() == 64);
    demand(path.pod_uid.empty() || path.pod_uid.size() == 36 || path.pod_uid.size() == 32);
  } else {
    const std::string label = monitor::label_text(text);
    demand(valid_utf8(label) == label);
    demand(label.find('\n') == label.npos);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0 || size > 8192) return 0;
  try {
    read(data[0] % 5U, {reinterpret_cast<const char*>(data) + 1, size - 1});
  } catch (const ValueError&) {
  }
  return 0;
}
