#include "monitor/otlp_json.h"

#include <nlohmann/json.hpp>
namespace loaderscope::monitor {
namespace {

using nlohmann::json;

// Units in the code of UCUM.
std::string_view unit_code(LiveUnit unit) {
  constexpr std::string_view kCodes[] = {"", "s", "By", "1", "{core}"};
  return kCodes[static_cast<std::size_t>(unit)];
}

// A consumer such as Prometheus adds the unit and "_total" to the name. Only units in braces must
// be part of it.
std::string otlp_name(const LiveMetricRow& row) {
  std::string name = "loaderscope." + std::string(row.name);
  if (row.unit == LiveUnit::cores) name += "_cores";
  if (row.type == LiveType::info) name += "_info";
  return name;
}

json attribute(const std::string& key, const std::string& value) {
  return {{"key", key}, {"value", {{"stringValue", value}}}};
}

json point(const LiveSample& sample, bool is_sum, const OtlpResource& resource,
           std::int64_t now_unix_ns) {
  json attributes = json::array();
  for (const auto& [key, value] : sample.labels) attributes.push_back(attribute(key, value));
  json one = {{"attributes", std::move(attributes)},
              {"timeUnixNano", std::to_string(now_unix_ns)},
              {"asDouble", sample.value}};
  if (is_sum) one["startTimeUnixNano"] = std::to_string(resource.started_unix_ns);
  return one;
}

json described(const LiveMetricRow& row, json points) {
  constexpr int kCumulative = 2;  // AGGREGATION_TEMPORALITY_CUMULATIVE
  json metric = {{"name", otlp_name(row)},
                 {"description", std::string(row.sentence)},
                 {"unit", std::string(unit_code(row.unit))}};
  json data = {{"dataPoints", std::move(points)}};
  const bool is_sum = row.type == LiveType::counter;
  if (is_sum) {
    data["aggregationTemporality"] = kCumulative;
    data["isMonotonic"] = true;
  }
  metric[is_sum ? "sum" : "gauge"] = std::move(data);
  return metric;
}

}  // namespace

std::string otlp_json(std::span<const LiveSample> samples, const OtlpResource& resource,
                      std::int64_t now_unix_ns) {
  json metrics = json::array();
  for (std::size_t i = 0; i < samples.size();) {
    const LiveMetric metric = samples[i].metric;
    const LiveMetricRow& row = live_metric_table()[static_cast<std::size_t>(metric)];
    json points = json::array();
    for (; i < samples.size() && samples[i].metric == metric; ++i)
      points.push_back(point(samples[i], row.type == LiveType::counter, resource, now_unix_ns));
    metrics.push_back(described(row, std::move(points)));
  }
  const json attributes = {attribute("service.name", "loaderscope"),
                           attribute("service.version", resource.version),
                           attribute("host.name", resource.host)};
  const json scope = {{"name", "loaderscope"}, {"version", resource.version}};
  const json scope_metrics = {{"scope", scope}, {"metrics", std::move(metrics)}};
  const json resource_metrics = {{"resource", {{"attributes", attributes}}},
                                 {"scopeMetrics", json::array({scope_metrics})}};
  return json{{"resourceMetrics", json::array({resource_metrics})}}.dump(
      -1, ' ', false, json::error_handler_t::replace);
}

}  // namespace loaderscope::monitor
