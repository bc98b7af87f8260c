// Configuration, machine, metrics and the heads of the ranks of a saved result.
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <numeric>

#include "loaderscope/errors.h"
#include "loaderscope/settings.h"
#include "report/keys.h"
#include "report/record_parts.h"

namespace loaderscope {
namespace {

constexpr std::int64_t kMostParts = 32;      // of a critical path; their sum must not overflow
constexpr std::int64_t kMostBuckets = 8192;  // more than a histogram of 64-bit ns has

// The text of a setting as a flag would have it.
std::string setting_text(const JsonCursor& json) {
  switch (json.node().kind) {
    case JsonNode::Kind::text:
      return json.text();
    case JsonNode::Kind::boolean:
      return json.boolean() ? "true" : "false";
    case JsonNode::Kind::integer:
      return std::to_string(json.node().integer);
    case JsonNode::Kind::real:
      return fmt::format("{}", json.node().real);
    default:
      json.fail("is no value of a setting");
  }
}

void set_from(const JsonCursor& json, const std::string& place, std::string_view field,
              RunConfig& config) {
  try {
    set_field(config, place + ": config", field, setting_text(json));
  } catch (const UsageError& error) {
    throw RunError(error.what());
  }
}

void read_setting(const JsonCursor& value, const std::string& place, const Field& field,
                  RunConfig& config) {
  if (value.is_null()) return;
  if (!field.repeats) return set_from(value, place, field.name, config);
  value.expect_array();
  for (std::size_t i = 0; i < value.size(); ++i) set_from(value.item(i), place, field.name, config);
}

Histogram read_histogram(const JsonCursor& stage, std::int64_t count, std::int64_t most) {
  const JsonCursor buckets = stage.at("buckets");
  buckets.expect_array();
  std::vector<Histogram::Bucket> read;
  std::int64_t counted = 0, sum = 0, last = -1;
  for (std::size_t i = 0; i < buckets.size(); ++i) {
    const JsonCursor bucket = buckets.item(i);
    bucket.expect_array(3);
    const std::int64_t index = bucket.item(0).integer(last + 1, kMostBuckets);
    read.push_back({static_cast<std::int32_t>(index), bucket.item(1).integer(1, most - counted),
                    bucket.item(2).integer(0, most - sum)});
    counted += read.back().count;
    sum += read.back().sum;
    last = index;
  }
  if (counted != count) {
    buckets.fail(fmt::format("hold {} executions where the stage has {}", counted, count));
  }
  return Histogram::from_buckets(read, stage.at("max_s").seconds(0, most));
}

PerStage<StageStats> read_stages(const JsonCursor& json, std::int64_t most) {
  json.expect_object();
  PerStage<StageStats> stages;
  for (std::size_t i = 0; i < json.size(); ++i) {
    const std::optional<Stage> stage = value_of<Stage>(json.key(i));
    if (!stage) json.fail(fmt::format("has the unknown stage '{}'", json.key(i)));
    const JsonCursor entry = json.item(i);
    StageStats stats;
    stats.count = entry.at("count").integer(1, most);
    for (const auto& [name, member] : keys::kStageTimes)
      stats.*member = entry.at(name).seconds(0, most);
    stats.bytes = entry.at("bytes").count(most);
    stats.wall_histogram = read_histogram(entry, stats.count, most);
    stages[*stage] = std::move(stats);
  }
  return stages;
}

std::vector<QueueStats> read_queues(const JsonCursor& json, std::int64_t most) {
  json.expect_object();
  std::vector<QueueStats> queues;
  for (std::size_t i = 0; i < json.size(); ++i) {
    const JsonCursor entry = json.item(i);
    QueueStats queue;
    queue.name = std::string(json.key(i));
    if (queue.name.empty()) json.fail("has a queue without a name");
    for (const auto& [name, member] : keys::kQueueCounts)
      queue.*member = entry.at(name).count(most);
    queue.mean_occupancy = entry.at("mean_occupancy").real();
    for (const auto& [name, member] : keys::kQueueWaits)
      queue.*member = entry.at(name).seconds(0, most);
    queues.push_back(std::move(queue));
  }
  return queues;
}

double metric_value(const JsonCursor& document, const std::string& metric) {
  const keys::MetricPlace place = keys::place_of(metric);
  if (!place.ok()) document.fail(fmt::format("has the metric '{}', whose name is none", metric));
  const JsonCursor group = document.at(place.group);
  const JsonCursor value = group.at(place.name);
  return value.is_null() ? std::numeric_limits<double>::quiet_NaN() : value.real();
}

}  // namespace

std::vector<std::string> read_texts(const JsonCursor& json) {
  json.expect_array();
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < json.size(); ++i) texts.push_back(json.item(i).text());
  return texts;
}

void read_config(const JsonCursor& document, const std::string& place, RunConfig& config) {
  const JsonCursor values = document.at("config");
  values.expect_object();
  const std::vector<std::string> given = read_texts(document.at("config_given"));
  for (const Field& field : fields()) {
    const std::string key = keys::of_field(field.name);
    if (values.has(key)) read_setting(values.at(key), place, field, config);
    field.mark_given(config, std::find(given.begin(), given.end(), key) != given.end());
  }
}

MachineFacts read_machine(const JsonCursor& json) {
  MachineFacts machine;
  for (const auto& [name, member] : keys::kMachineWords) machine.*member = json.at(name).text();
  machine.logical_cpus = json.at("logical_cpus").count();
  machine.cores = json.at("cores").real();
  machine.memory_bytes = json.at("memory_bytes").count();
  return machine;
}

std::vector<Metric> read_metrics(const JsonCursor& document) {
  const JsonCursor list = document.at("metrics");
  list.expect_array();
  std::vector<Metric> metrics;
  for (std::size_t i = 0; i < list.size(); ++i) {
    const JsonCursor entry = list.item(i);
    Metric metric;
    metric.name = entry.at("name").text();
    metric.unit = entry.at("unit").text();
    metric.help = entry.at("help").text();
    metric.value = metric_value(document, metric.name);
    metrics.push_back(std::move(metric));
  }
  return metrics;
}

std::vector<Detail> read_details(const JsonCursor& json) {
  json.expect_array();
  std::vector<Detail> details;
  for (std::size_t i = 0; i < json.size(); ++i) {
    const JsonCursor entry = json.item(i);
    details.push_back(
        {entry.at("about").text(), entry.at("text").text(), entry.at("share").real()});
  }
  return details;
}

RankHead read_rank(const JsonCursor& json, std::int64_t most) {
  RankHead head;
  RankRecord& rank = head.record;
  rank.first_ask = json.at("first_ask_ns").count();
  const JsonCursor window = json.at("window");
  rank.window_begin = rank.first_ask + window.at("begin_s").seconds(0, most);
  rank.window_end = rank.first_ask + window.at("end_s").seconds(0, most);
  rank.warmup_steps = window.at("warmup_steps").count();
  head.steps = window.at("steps").count();
  for (const auto& [name, member] : keys::kRankCounts) rank.*member = json.at(name).count(most);
  rank.stages = read_stages(json.at("stages"), most);
  rank.queues = read_queues(json.at("queues"), most);
  if (json.has("critical_path"))
    rank.critical_path = read_critical_path(json.at("critical_path"), most / kMostParts);
  return head;
}

}  // namespace loaderscope
