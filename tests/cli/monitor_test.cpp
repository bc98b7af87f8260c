// Live metrics of real runs, scraped over the loopback address while they last.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <regex>
#include <string>
#include <vector>

#include "cli/run_binary.h"
#include "cli/run_script.h"
#include "cli/scrape.h"
#include "monitor/http_server.h"
#include "unit/monitor/loopback.h"

namespace loaderscope::testing_cli {
namespace {

using monitor::test::OneAnswer;
using testing::AllOf;
using testing::HasSubstr;

const std::string kPretendLoader = LOADERSCOPE_SOURCE_DIR "/tests/tools/pretend_loader.py";
const std::string kPython3 = "/usr/bin/python3";

// A run of the built-in loader, with declared costs. `more`: flags that end it, and others.
Words built_in_run(const Words& more) {
  Words words = {
      "run", "--engine",     "native", "--cost",   "decode=100us", "--compute",     "1ms", "--size",
      "8",   "--batch-size", "4",      "--device", "sim",          "--num-workers", "1"};
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

// A pretend job with two workers, which runs until the end of the test.
class PretendTraining {
 public:
  PretendTraining()
      : running_({kPretendLoader, "reads", "2", folder_.path("fifo")}, folder_.write("said", ""),
                 kPython3) {
    for (int i = 0; i < kTries && folder_.read("said").empty(); ++i) ::usleep(kPause);
  }
  std::string pid() const { return std::to_string(running_.pid()); }

 private:
  TestFolder folder_;
  RunningBinary running_;
};

// Prometheus's own checker. Its tests skip without it.
class Promtool : public testing::Test {
 protected:
  void SetUp() override {
    if (run_program("/bin/sh", {"-c", "command -v promtool"}).exit_code != 0)
      GTEST_SKIP() << "no promtool: scripts/install-deps monitors brings it";
  }
  // `way` ends with the place of the file: "rules ", or "metrics <".
  Ended check(const std::string& way, const std::string& content) const {
    const std::string file = folder_.write("checked", content);
    return run_program("/bin/sh", {"-c", "exec promtool check " + way + file + " 2>&1"});
  }
  // Checks each expression as the rule of a recorded metric.
  Ended check_rules(const std::vector<std::string>& expressions) const {
    nlohmann::json rules = nlohmann::json::array();
    for (const std::string& expression : expressions)
      rules.push_back({{"record", "metric:" + std::to_string(rules.size())}, {"expr", expression}});
    const nlohmann::json groups = {{"groups", {{{"name", "all"}, {"rules", rules}}}}};
    return check("rules ", groups.dump());
  }

  TestFolder folder_;
};

// Returns the queries of the dashboard, with values for the variables of Grafana.
std::vector<std::string> dashboard_queries() {
  std::ifstream file(LOADERSCOPE_SOURCE_DIR "/src/share/grafana-dashboard.json");
  const nlohmann::json dashboard = nlohmann::json::parse(file);
  std::vector<std::string> queries;
  for (const nlohmann::json& panel : dashboard.at("panels")) {
    for (const nlohmann::json& target : panel.at("targets")) {
      std::string query = target.at("expr");
      query = std::regex_replace(query, std::regex(R"(\$__rate_interval)"), "1m");
      queries.push_back(std::regex_replace(query, std::regex(R"(\$(instance|pid))"), ".*"));
    }
  }
  return queries;
}

TEST_F(Promtool, AcceptsQueriesOfDashboard) {
  const std::vector<std::string> queries = dashboard_queries();
  const Ended ended = check_rules(queries);
  EXPECT_EQ(ended.exit_code, 0) << ended.out;
  EXPECT_THAT(ended.out, HasSubstr(std::to_string(queries.size()) + " rules found"));
  EXPECT_NE(check_rules({"rate(loaderscope_batches_total)"}).exit_code, 0);
}

TEST_F(Promtool, AcceptsMetricsOfRun) {
  RunningBinary run(built_in_run({"--duration", "2m", "--metrics", ":0"}));
  const std::uint16_t port = wait_for_port(run);
  const std::string text = scraped(run, port, "loaderscope_batches_total{pid=\"");
  const Ended ended = check("metrics <", text.substr(text.find("\r\n\r\n") + 4));
  EXPECT_EQ(ended.exit_code, 0) << ended.out;
  EXPECT_NE(check("metrics <", "loaderscope batches 1\n").exit_code, 0);
  run.send(SIGINT);
  EXPECT_EQ(run.wait().exit_code, 130);
}

TEST(Monitor, ServesRunOfBuiltInLoader) {
  RunningBinary run(built_in_run({"--duration", "2m", "--metrics", ":0"}));
  const std::uint16_t port = wait_for_port(run);
  const std::string text = scraped(run, port, "loaderscope_batches_total{pid=\"");
  EXPECT_THAT(text, AllOf(HasSubstr("HTTP/1.1 200 OK\r\n"),
                          HasSubstr("loaderscope_wait_seconds_total{pid=\""),
                          HasSubstr(",cause=\"decode\"} "),
                          HasSubstr("loaderscope_job_info{pid=\"" + std::to_string(run.pid()))));
  run.send(SIGINT);
  const Ended ended = run.wait();
  EXPECT_EQ(ended.exit_code, 130);
  EXPECT_THAT(ended.out, HasSubstr("decod"));
}

TEST(Monitor, ServesWatchedJob) {
  if (::access(kPython3.c_str(), X_OK) != 0) GTEST_SKIP() << "no " << kPython3;
  const PretendTraining job;
  RunningBinary watch({"watch", "--pid", job.pid(), "--metrics", "0"});
  const std::uint16_t port = wait_for_port(watch);
  const std::string label = "{pid=\"" + job.pid() + "\"";
  EXPECT_THAT(scraped(watch, port, "loaderscope_trainer_waiting_ratio"),
              AllOf(HasSubstr("loaderscope_workers" + label + ",rank=\"0\"} 2\n"),
                    HasSubstr("loaderscope_worker_activity_ratio" + label),
                    HasSubstr("program=\"pretend_loader.py\",framework=\"pytorch\"")));
  watch.send(SIGTERM);
  EXPECT_EQ(watch.wait().exit_code, 143);
}

TEST(Monitor, FindsAllJobsOfMachine) {
  if (::access(kPython3.c_str(), X_OK) != 0) GTEST_SKIP() << "no " << kPython3;
  const PretendTraining one, other;
  RunningBinary watch({"watch", "--all", "--metrics", "127.0.0.1:0"});
  const std::uint16_t port = wait_for_port(watch);
  scraped(watch, port, "loaderscope_workers{pid=\"" + one.pid() + "\",rank=\"0\"} 2\n");
  scraped(watch, port, "loaderscope_workers{pid=\"" + other.pid() + "\",rank=\"0\"} 2\n");
  watch.send(SIGINT);
  EXPECT_EQ(watch.wait().exit_code, 130);
}

TEST(Monitor, RunsWithoutEndpointIfPortIsInUse) {
  const monitor::HttpServer other({}, [](const auto&) { return monitor::HttpAnswer{}; });
  const std::string address = spelled(other.address());
  const Ended ended = run_binary(built_in_run({"--steps", "20", "--metrics", address}));
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_THAT(ended.err,
              HasSubstr("loaderscope: no metrics: " + address + ": the port is in use\n"));
  EXPECT_THAT(ended.out, HasSubstr("decod"));
}

TEST(Monitor, SendsMetricsOfRunToCollector) {
  OneAnswer collector("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
  const Ended ended = run_binary(built_in_run(
      {"--steps", "20", "--otlp", "http://127.0.0.1:" + std::to_string(collector.port())}));
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_THAT(collector.request(), AllOf(HasSubstr("POST /v1/metrics HTTP/1.1\r\n"),
                                         HasSubstr("\"name\":\"loaderscope.job_info\"")));
}

TEST(Monitor, RunsWithoutCollectorThatDoesNotAnswer) {
  const Ended ended =
      run_binary(built_in_run({"--steps", "20", "--otlp", "http://127.0.0.1:1/otlp"}));
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_THAT(ended.err,
              HasSubstr("loaderscope: no metrics reach http://127.0.0.1:1/otlp/v1/metrics"
                        ": Connection refused\n"));
}

TEST(Monitor, RejectsWrongFlags) {
  expect_refused(
      {"run"},
      {{{"--metrics", "nine"}, "--metrics nine: expected a port, or an address and a port"},
       {{"--metrics", "::1:9400"}, "give :9400, 127.0.0.1:9400, [::1]:9400"},
       {{"--otlp", "localhost"}, "--otlp localhost: expected http://HOST:PORT"},
       {{"--otlp", "https://x"}, "https is not supported; send to a collector on this host"},
       {{"--otlp-interval", "5s"}, "--otlp-interval needs --otlp"},
       {{"--otlp", "http://h", "--otlp-interval", "5ms"}, "expected 1s or more"}});
  expect_refused({"watch", "--all"},
                 {{{}, "--all needs --metrics or --otlp"},
                  {{"--metrics", ":0", "--pid", "1"}, "--all excludes --pid"},
                  {{"--metrics", ":0", "--json", "-"}, "--all has no result to save"}});
}

TEST(Monitor, EndsWatchOfAllIfNoPlaceReceivesMetrics) {
  const monitor::HttpServer other({}, [](const auto&) { return monitor::HttpAnswer{}; });
  const Ended ended = run_binary({"watch", "--all", "--metrics", spelled(other.address())});
  EXPECT_EQ(ended.exit_code, 1);
  EXPECT_THAT(ended.err, HasSubstr("no place receives the metrics"));
}

}  // namespace
}  // namespace loaderscope::testing_cli
