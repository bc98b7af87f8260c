// Export of live values: an endpoint for Prometheus, a push by OTLP, or both.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "monitor/addresses.h"
#include "monitor/http_server.h"
#include "monitor/live_metric.h"
#include "monitor/otlp_push.h"

namespace loaderscope::monitor {

struct ExportOptions {
  std::optional<ListenAddress> listen{};
  std::optional<CollectorUrl> collector{};
  Nanos interval = 10 * kSecond;  // between two requests to the collector
  std::string host{}, version{};
  // Receives a sentence about an address or a failure. Called by any thread.
  std::function<void(const std::string&)> say{};

  bool is_on() const { return listen || collector; }
};

class Exporter {
 public:
  // Reports a failure by `say`, because a measured program continues without the endpoint.
  explicit Exporter(const ExportOptions& options);

  bool exports() const { return server_.has_value() || push_.has_value(); }
  LiveBoard& board() { return *board_; }

 private:
  std::shared_ptr<LiveBoard> board_ = std::make_shared<LiveBoard>();
  std::optional<HttpServer> server_;
  std::optional<OtlpPush> push_;
};

// Returns the name of this machine: NODE_NAME, which Kubernetes sets for a pod that asks for it,
// else the name of the host.
std::string machine_label();

}  // namespace loaderscope::monitor
