#include "monitor/exporter.h"

#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <system_error>

#include "base/failure_text.h"
#include "loaderscope/errors.h"
#include "monitor/metrics_text.h"
#include "monitor/otlp_json.h"

namespace loaderscope::monitor {
namespace {

HttpAnswer answer(const LiveBoard& board, const HttpRequest& request) {
  constexpr std::string_view kStartPage =
      "<!doctype html>\n<title>loaderscope</title>\n<h1>loaderscope</h1>\n"
      "<p><a href=\"/metrics\">Metrics</a></p>\n";
  if (request.path == "/") return {200, "text/html; charset=utf-8", std::string(kStartPage)};
  if (request.path != "/metrics")
    return {404, "text/plain; charset=utf-8", "Not Found: see /metrics\n"};
  const TextFormat format = preferred_format(request.accept);
  return {200, std::string(content_type(format)), metrics_text(board.samples(), format)};
}

std::int64_t unix_now() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

std::string sentence_without_thread(const std::system_error& error) {
  const std::string sentence = shortage_sentence(error);
  return sentence.empty() ? error.what() : sentence;
}

}  // namespace

Exporter::Exporter(const ExportOptions& options) {
  const std::shared_ptr<const LiveBoard> board = board_;
  if (options.listen) {
    try {
      server_.emplace(*options.listen,
                      [board](const HttpRequest& request) { return answer(*board, request); });
      options.say(fmt::format("metrics: http://{}/metrics", spelled(server_->address())));
    } catch (const RunError& error) {
      options.say(fmt::format("no metrics: {}", error.what()));
    } catch (const std::system_error& error) {
      options.say(fmt::format("no metrics: {}", sentence_without_thread(error)));
    }
  }
  if (!options.collector) return;
  OtlpPush::Options push;
  push.url = *options.collector;
  push.interval = options.interval;
  const OtlpResource resource{options.host, options.version, board_->started_unix_ns()};
  push.body = [board, resource] { return otlp_json(board->samples(), resource, unix_now()); };
  push.report_failure = [say = options.say, url = *options.collector](const std::string& reason) {
    say(fmt::format("no metrics reach {}: {}", spelled(url), reason));
  };
  try {
    push_.emplace(std::move(push));
  } catch (const std::system_error& error) {
    options.say(fmt::format("no metrics reach {}: {}", spelled(*options.collector),
                            sentence_without_thread(error)));
  }
}

std::string machine_label() {
  const char* node = std::getenv("NODE_NAME");
  if (node != nullptr && *node != '\0') return label_text(node);
  char name[256] = {};
  return ::gethostname(name, sizeof name - 1) == 0 ? label_text(name) : "";
}

}  // namespace loaderscope::monitor
