// Checks the promises of each row of the table of counters, and that Python reports each row.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "guest/host/counter_table.h"
#include "guest/host/guest_counters.h"
#include "loaderscope/vocabulary.h"
#include "manual/metrics.h"

namespace loaderscope::guest {
namespace {

using nlohmann::json;

json values_of_all_rows(const json& value) {
  json values = json::object();
  for (const CounterRow& row : counter_rows()) values[row.name] = value;
  return {{"what", "counters"}, {"values", values}};
}

// The values of two workers and their trainer.
GuestCounters reported(const json& value) {
  GuestCounters counters;
  for (const int pid : {1, 2, 3})
    counters.put(pid, pid > 1, parse_counters(values_of_all_rows(value)));
  return counters;
}

TEST(CounterTable, ListsCompleteRowsWithUniqueNames) {
  std::set<std::string_view> names;
  for (const CounterRow& row : counter_rows()) {
    EXPECT_TRUE(names.insert(row.name).second) << row.name;
    EXPECT_EQ(find_counter(row.name), &row);
    const bool has_metric = row.metric != CounterMetric::none;
    EXPECT_EQ(row.text[0] != '\0', has_metric) << row.name;
    const MetricRow* metric = find_metric(row.name);
    EXPECT_EQ(metric != nullptr, has_metric) << row.name;
    const bool adds_up = row.metric == CounterMetric::total;
    EXPECT_EQ(metric != nullptr && metric->join == MetricJoin::sum, adds_up) << row.name;
    EXPECT_EQ(row.max_details > 0, row.parts != CounterParts::none) << row.name;
    EXPECT_TRUE(has_metric || row.parts == CounterParts::shares) << row.name;
    EXPECT_EQ(row.metric == CounterMetric::common, row.parts == CounterParts::common) << row.name;
    for (const std::string_view other : {row.needs, row.subtract})
      EXPECT_TRUE(other.empty() || find_counter(other) != nullptr) << row.name << " " << other;
  }
  EXPECT_EQ(find_counter("no.such_counter"), nullptr);
}

TEST(CounterTable, ListsRowForCodeOfEachStage) {
  for (const Stage stage : kMakingStages) {
    const CounterRow* row = find_counter(name_of(stage));
    ASSERT_NE(row, nullptr) << name_of(stage);
    EXPECT_EQ(row->parts, CounterParts::shares);
  }
}

TEST(CounterTable, MakesAMetricOfEachRow) {
  const auto metrics =
      reported({6, 1, {{"part", 1}}}).metrics({.batches = 6, .samples_per_batch = 2});
  auto metric = metrics.begin();
  for (const CounterRow& row : counter_rows()) {
    if (row.metric == CounterMetric::none) continue;
    ASSERT_NE(metric, metrics.end()) << row.name;
    ASSERT_EQ(metric->name, row.name);
    const bool adds = row.metric == CounterMetric::total;
    EXPECT_EQ(metric->joined == MetricJoin::sum, adds) << row.name;
    EXPECT_EQ(metric->is_exact, row.metric == CounterMetric::per_sample) << row.name;
    switch (row.metric) {
      case CounterMetric::average:
        EXPECT_EQ(metric->value, row.subtract.empty() ? 6 : 0);
        break;
      case CounterMetric::total:
        EXPECT_EQ(metric->value, 18);
        break;
      case CounterMetric::per_batch:
        EXPECT_EQ(metric->value, 3);
        break;
      case CounterMetric::per_sample:
        EXPECT_EQ(metric->value, 3);
        break;
      case CounterMetric::common:
        EXPECT_EQ(metric->value, 1);
        break;
      case CounterMetric::none:
        break;
    }
    ++metric;
  }
  EXPECT_EQ(metric, metrics.end());
}

TEST(CounterTable, MakesADetailOfEachRowWithParts) {
  const auto details = reported({6, 1, {{"part", 1}}}).details();
  auto detail = details.begin();
  for (const CounterRow& row : counter_rows()) {
    if (row.parts == CounterParts::none) continue;
    ASSERT_NE(detail, details.end()) << row.name;
    const double share = row.parts == CounterParts::shares ? 1 : 0;
    EXPECT_EQ(*detail, (Detail{std::string(row.name), "part", share}));
    ++detail;
  }
  EXPECT_EQ(detail, details.end());
}

TEST(CounterTable, MakesNothingOfRowsWithoutReports) {
  EXPECT_TRUE(GuestCounters().metrics({.batches = 6, .samples_per_batch = 2}).empty());
  EXPECT_TRUE(GuestCounters().details().empty());
}

TEST(CounterTable, MakesFiniteMetricsOfAnyNumbers) {
  for (const json& value : {json{-1e308, 1}, json{1e308, 1e308}, json{1e308, 1e-308}, json{0, 0},
                            json{-1, -1}, json{1, 1, {{"part", -1e308}}}}) {
    for (const Metric& metric : reported(value).metrics({.batches = 1, .samples_per_batch = 1})) {
      EXPECT_TRUE(std::isfinite(metric.value)) << metric.name << " of " << value;
      EXPECT_TRUE(metric.value >= 0 || find_counter(metric.name)->is_signed)
          << metric.name << " of " << value;
    }
    for (const Detail& detail : reported(value).details()) EXPECT_LE(detail.share, 1) << value;
  }
}

// Names in the calls of the Python package, as patterns: "gc.{self._role}_share" matches all
// roles.
std::vector<std::string> reported_names() {
  const std::filesystem::path package =
      LOADERSCOPE_SOURCE_DIR "/src/guest/python/loaderscope_guest";
  const std::regex call(R"(counters\.(put|add|watch)\(f?"([^"]+)\")");
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(package)) {
    if (entry.path().extension() != ".py") continue;
    std::ostringstream text;
    text << std::ifstream(entry.path()).rdbuf();
    const std::string source = text.str();
    for (std::sregex_iterator one(source.begin(), source.end(), call), end; one != end; ++one) {
      const std::string dots = std::regex_replace((*one)[2].str(), std::regex(R"(\.)"), "\\.");
      names.push_back(std::regex_replace(dots, std::regex(R"(\{[^}]*\})"), "[a-z]+"));
    }
  }
  return names;
}

TEST(CounterTable, MatchesReportsOfPythonPackage) {
  const std::vector<std::string> names = reported_names();
  const auto is_any_row = [](const std::string& name) {
    for (const CounterRow& row : counter_rows())
      if (std::regex_match(std::string(row.name), std::regex(name))) return true;
    return false;
  };
  for (const std::string& name : names) EXPECT_TRUE(is_any_row(name)) << name;
  for (const CounterRow& row : counter_rows()) {
    if (row.metric == CounterMetric::none) continue;  // reported by name of stage
    EXPECT_TRUE(std::any_of(names.begin(), names.end(), [&](const std::string& name) {
      return std::regex_match(std::string(row.name), std::regex(name));
    })) << row.name;
  }
}

}  // namespace
}  // namespace loaderscope::guest
