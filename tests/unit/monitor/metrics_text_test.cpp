// The text for Prometheus and the request for a collector, from the same values.
#include "monitor/metrics_text.h"

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <set>

#include "monitor/otlp_json.h"

namespace loaderscope::monitor {
namespace {

using nlohmann::json;

LiveSamples some_samples(const std::string& pid = "7") {
  LiveSamples samples(LiveLabels{{"pid", pid}});
  samples.add(LiveMetric::worker_cpu, 1.5, {{"rank", "0"}});
  samples.add(LiveMetric::job, 1, {{"program", label_text("a\"b\\c\nd")}});
  samples.add(LiveMetric::gpu_waiting, 0.25);
  constexpr std::string_view kStates[] = {"trainer", "cpu"};
  samples.add_states(LiveMetric::limit, kStates, "cpu");
  samples.add(LiveMetric::gpu_busy, std::nan(""));
  return samples;
}

std::vector<LiveSample> on_board() {
  LiveBoard board;
  board.set(7, some_samples());
  return board.samples();
}

TEST(MetricsText, WritesPrometheusText) {
  EXPECT_EQ(metrics_text(on_board(), TextFormat::prometheus),
            "# TYPE loaderscope_job_info gauge\n"
            "# HELP loaderscope_job_info Identity of a job. A label is missing if it is unknown.\n"
            "loaderscope_job_info{pid=\"7\",program=\"a\\\"b\\\\c\\\\x0ad\"} 1\n"
            "# TYPE loaderscope_limit gauge\n"
            "# HELP loaderscope_limit Limit of the job in the last minute.\n"
            "loaderscope_limit{pid=\"7\",loaderscope_limit=\"trainer\"} 0\n"
            "loaderscope_limit{pid=\"7\",loaderscope_limit=\"cpu\"} 1\n"
            "# TYPE loaderscope_gpu_waiting_ratio gauge\n"
            "# HELP loaderscope_gpu_waiting_ratio Share of the last minute in which the device was "
            "idle.\n"
            "loaderscope_gpu_waiting_ratio{pid=\"7\"} 0.25\n"
            "# TYPE loaderscope_worker_cpu_seconds_total counter\n"
            "# HELP loaderscope_worker_cpu_seconds_total CPU time of the worker processes.\n"
            "loaderscope_worker_cpu_seconds_total{pid=\"7\",rank=\"0\"} 1.5\n");
}

TEST(MetricsText, WritesOpenMetricsWithTypesUnitsAndEnd) {
  EXPECT_EQ(metrics_text(on_board(), TextFormat::open_metrics),
            "# TYPE loaderscope_job info\n"
            "# HELP loaderscope_job Identity of a job. A label is missing if it is unknown.\n"
            "loaderscope_job_info{pid=\"7\",program=\"a\\\"b\\\\c\\\\x0ad\"} 1\n"
            "# TYPE loaderscope_limit stateset\n"
            "# HELP loaderscope_limit Limit of the job in the last minute.\n"
            "loaderscope_limit{pid=\"7\",loaderscope_limit=\"trainer\"} 0\n"
            "loaderscope_limit{pid=\"7\",loaderscope_limit=\"cpu\"} 1\n"
            "# TYPE loaderscope_gpu_waiting_ratio gauge\n"
            "# UNIT loaderscope_gpu_waiting_ratio ratio\n"
            "# HELP loaderscope_gpu_waiting_ratio Share of the last minute in which the device was "
            "idle.\n"
            "loaderscope_gpu_waiting_ratio{pid=\"7\"} 0.25\n"
            "# TYPE loaderscope_worker_cpu_seconds counter\n"
            "# UNIT loaderscope_worker_cpu_seconds seconds\n"
            "# HELP loaderscope_worker_cpu_seconds CPU time of the worker processes.\n"
            "loaderscope_worker_cpu_seconds_total{pid=\"7\",rank=\"0\"} 1.5\n"
            "# EOF\n");
  EXPECT_EQ(metrics_text({}, TextFormat::open_metrics), "# EOF\n");
}

TEST(MetricsText, GroupsJobsByMetric) {
  LiveBoard board;
  board.set(8, some_samples("8"));
  board.set(7, some_samples("7"));
  const std::string text = metrics_text(board.samples(), TextFormat::prometheus);
  EXPECT_NE(text.find("_ratio{pid=\"7\"} 0.25\nloaderscope_gpu_waiting_ratio{pid=\"8\"} 0.25\n"),
            text.npos);
  board.remove(7);
  EXPECT_EQ(metrics_text(board.samples(), TextFormat::prometheus).find("pid=\"7\""), text.npos);
}

TEST(MetricsText, PrefersFormatOfAcceptHeader) {
  using enum TextFormat;
  EXPECT_EQ(preferred_format(""), prometheus);
  EXPECT_EQ(preferred_format("*/*"), prometheus);
  EXPECT_EQ(preferred_format("application/openmetrics-text;version=1.0.0,text/plain;q=0.5"),
            open_metrics);
  EXPECT_EQ(preferred_format("text/plain , application/openmetrics-text; q=0.3"), prometheus);
  EXPECT_EQ(preferred_format("application/openmetrics-text;q=0"), prometheus);
  EXPECT_EQ(preferred_format("application/openmetrics-text;q=x"), prometheus);
}

TEST(LiveMetricTable, KeepsNamesDistinctAndWithUnits) {
  std::set<std::string> names;
  for (const LiveMetricRow& row : live_metric_table()) {
    EXPECT_TRUE(names.insert(sample_name(row)).second) << row.name;
    EXPECT_TRUE(family_name(row).ends_with(name_of(row.unit))) << row.name;
    EXPECT_TRUE(row.sentence.ends_with('.')) << row.name;
  }
}

TEST(OtlpJson, WritesSumsAndGaugesWithResource) {
  const OtlpResource resource{"node-1", "1.2.3", 1'000};
  const json request = json::parse(otlp_json(on_board(), resource, 5'000));
  const json& one = request["resourceMetrics"][0];
  EXPECT_EQ(one["resource"]["attributes"][2],
            json({{"key", "host.name"}, {"value", {{"stringValue", "node-1"}}}}));
  const json& metrics = one["scopeMetrics"][0]["metrics"];
  ASSERT_EQ(metrics.size(), 4U);
  EXPECT_EQ(metrics[2]["name"], "loaderscope.gpu_waiting");
  EXPECT_EQ(metrics[2]["unit"], "1");
  EXPECT_EQ(metrics[2]["gauge"]["dataPoints"][0]["asDouble"], 0.25);
  EXPECT_EQ(metrics[3]["name"], "loaderscope.worker_cpu");
  EXPECT_EQ(metrics[3]["unit"], "s");
  const json& sum = metrics[3]["sum"];
  EXPECT_EQ(sum["aggregationTemporality"], 2);
  EXPECT_EQ(sum["isMonotonic"], true);
  EXPECT_EQ(sum["dataPoints"][0]["startTimeUnixNano"], "1000");
  EXPECT_EQ(sum["dataPoints"][0]["timeUnixNano"], "5000");
  EXPECT_EQ(sum["dataPoints"][0]["attributes"].size(), 2U);
}

TEST(LabelText, KeepsOnlyShortUtf8) {
  EXPECT_EQ(label_text("na\xc3\xafve"), "na\xc3\xafve");
  EXPECT_EQ(label_text("a\xff"), "a\xef\xbf\xbd");
  EXPECT_EQ(label_text(std::string(500, 'x')).size(), 120U);
}

}  // namespace
}  // namespace loaderscope::monitor
