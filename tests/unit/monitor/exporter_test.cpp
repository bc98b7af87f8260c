// The endpoint and the push as `run` and `watch` use them.
#include "monitor/exporter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <mutex>

#include "base/thread_meter.h"
#include "unit/monitor/loopback.h"

namespace loaderscope::monitor {
namespace {

using test::ask;
using test::OneAnswer;
using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::StartsWith;

// Sentences of an exporter.
class Said {
 public:
  std::function<void(const std::string&)> receiver() {
    return [this](const std::string& sentence) {
      const std::lock_guard lock(mutex_);
      all_.push_back(sentence);
    };
  }
  std::vector<std::string> all() {
    const std::lock_guard lock(mutex_);
    return all_;
  }

 private:
  std::mutex mutex_;
  std::vector<std::string> all_;
};

std::uint16_t read_port(const std::string& sentence) {
  const std::size_t colon = sentence.rfind(':');
  return static_cast<std::uint16_t>(std::stoi(sentence.substr(colon + 1)));
}

void put_batches(LiveBoard& board, double batches) {
  LiveSamples samples(LiveLabels{{"pid", "7"}});
  samples.add(LiveMetric::batches, batches);
  board.set(7, std::move(samples));
}

ExportOptions options_to(OneAnswer& collector, Said& said) {
  ExportOptions options;
  options.collector = CollectorUrl{.host = "127.0.0.1", .port = collector.port()};
  options.interval = 3600 * kSecond;
  options.say = said.receiver();
  return options;
}

TEST(Exporter, ServesBothFormatsAndStartPage) {
  Said said;
  Exporter exporter({.listen = ListenAddress{}, .say = said.receiver()});
  ASSERT_TRUE(exporter.exports());
  ASSERT_THAT(said.all(), ElementsAre(StartsWith("metrics: http://127.0.0.1:")));
  const std::uint16_t port = read_port(said.all().front());
  put_batches(exporter.board(), 3);
  EXPECT_THAT(ask(port, "GET /metrics HTTP/1.1\r\n\r\n"),
              EndsWith("\nloaderscope_batches_total{pid=\"7\"} 3\n"));
  const std::string open =
      ask(port, "GET /metrics HTTP/1.1\r\nAccept: application/openmetrics-text\r\n\r\n");
  EXPECT_THAT(open, HasSubstr("Content-Type: application/openmetrics-text;version=1.0.0;"));
  EXPECT_THAT(open, EndsWith("_total{pid=\"7\"} 3\n# EOF\n"));
  EXPECT_THAT(ask(port, "GET / HTTP/1.1\r\n\r\n"), HasSubstr("<a href=\"/metrics\">"));
  EXPECT_THAT(ask(port, "GET /x HTTP/1.1\r\n\r\n"), StartsWith("HTTP/1.1 404 "));
}

TEST(Exporter, ReportsPortInUse) {
  Said said;
  const Exporter first({.listen = ListenAddress{}, .say = said.receiver()});
  const std::uint16_t port = read_port(said.all().front());
  Exporter second({.listen = ListenAddress{.port = port}, .say = said.receiver()});
  EXPECT_FALSE(second.exports());
  EXPECT_EQ(said.all().back(),
            "no metrics: 127.0.0.1:" + std::to_string(port) + ": the port is in use");
}

TEST(OtlpPush, SendsLastValuesAtEnd) {
  Said said;
  OneAnswer collector("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
  {
    Exporter exporter(options_to(collector, said));
    put_batches(exporter.board(), 3);
    put_batches(exporter.board(), 4);
  }
  EXPECT_THAT(collector.request(), StartsWith("POST /v1/metrics HTTP/1.1\r\nHost: 127.0.0.1:"));
  EXPECT_THAT(collector.request(), HasSubstr("\r\nContent-Type: application/json\r\n"));
  EXPECT_THAT(collector.request(), HasSubstr("\"asDouble\":4.0"));
  EXPECT_TRUE(said.all().empty());
}

TEST(OtlpPush, ReportsRefusalOnce) {
  Said said;
  OneAnswer collector("HTTP/1.1 503 Unavailable\r\n\r\n");
  { const Exporter exporter(options_to(collector, said)); }
  EXPECT_THAT(said.all(), ElementsAre(EndsWith("/v1/metrics: it answers with status 503")));
}

TEST(OtlpPush, ReportsCollectorThatDoesNotAnswer) {
  OneAnswer collector("");
  const CollectorUrl url{.host = "127.0.0.1", .port = collector.port()};
  EXPECT_EQ(post_metrics(url, "{}", monotonic_now() + kSecond / 5), "it does not answer");
}

TEST(OtlpPush, ReportsAnswerThatIsNoHttp) {
  OneAnswer collector("SSH-2.0-OpenSSH_9.2 and more\r\n");
  const CollectorUrl url{.host = "127.0.0.1", .port = collector.port()};
  EXPECT_EQ(post_metrics(url, "{}", monotonic_now() + 10 * kSecond), "it does not answer");
}

TEST(OtlpPush, ReportsClosedPort) {
  CollectorUrl url{.host = "127.0.0.1"};
  {
    const HttpServer server(ListenAddress{}, [](const HttpRequest&) { return HttpAnswer{}; });
    url.port = server.address().port;
  }
  EXPECT_EQ(post_metrics(url, "{}", monotonic_now() + 10 * kSecond), "Connection refused");
}

}  // namespace
}  // namespace loaderscope::monitor
