// The page, the dashboard and the manifests for monitors name the metrics that exist.
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>

#include "monitor/live_metric.h"

namespace loaderscope::monitor {
namespace {

std::string read_source(const std::string& name) {
  std::ifstream file(LOADERSCOPE_SOURCE_DIR "/src/" + name);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::set<std::string> sample_names() {
  std::set<std::string> names;
  for (const LiveMetricRow& row : live_metric_table()) names.insert(sample_name(row));
  return names;
}

// Names of metrics in a text. Labels and names of files are left out.
std::set<std::string> find_names(const std::string& text) {
  std::set<std::string> names;
  const std::regex name("loaderscope_[a-z_]+(?![a-z_]*=)");
  for (std::sregex_iterator at(text.begin(), text.end(), name), end; at != end; ++at)
    names.insert(at->str());
  return names;
}

TEST(MonitoringPage, ListsEachMetric) {
  std::string list;
  for (const LiveMetricRow& row : live_metric_table()) {
    list += "- `" + sample_name(row) + "`, " + std::string(name_of(row.type));
    if (!row.labels.empty()) list += ", by " + std::string(row.labels);
    list += ":\n  " + std::string(row.sentence) + "\n";
  }
  EXPECT_NE(read_source("manual/monitoring.md").find("\n\n" + list + "\n## "), std::string::npos)
      << "src/manual/monitoring.md needs this list:\n"
      << list;
}

TEST(MonitoringPage, NamesOnlyMetricsThatExist) {
  const std::set<std::string> known = sample_names();
  for (const std::string& name : find_names(read_source("manual/monitoring.md")))
    EXPECT_TRUE(known.contains(name)) << name;
}

TEST(GrafanaDashboard, NamesOnlyMetricsThatExist) {
  const nlohmann::json dashboard =
      nlohmann::json::parse(read_source("share/grafana-dashboard.json"));
  const std::set<std::string> known = sample_names();
  std::size_t queries = 0;
  for (const nlohmann::json& panel : dashboard["panels"]) {
    for (const nlohmann::json& target : panel["targets"]) {
      const std::set<std::string> names = find_names(target["expr"].get<std::string>());
      EXPECT_FALSE(names.empty()) << target;
      for (const std::string& name : names) EXPECT_TRUE(known.contains(name)) << name;
      ++queries;
    }
  }
  EXPECT_GT(queries, 10U);
  for (const nlohmann::json& variable : dashboard["templating"]["list"]) {
    for (const std::string& name : find_names(variable["query"].dump()))
      EXPECT_TRUE(known.contains(name)) << variable;
  }
}

// Prometheus adds the label `instance`, and each metric has `pid`.
TEST(GrafanaDashboard, NamesOnlyLabelsOfMetricsInLegends) {
  const nlohmann::json dashboard =
      nlohmann::json::parse(read_source("share/grafana-dashboard.json"));
  const std::regex label(R"(\{\{(\w+)\}\})");
  for (const nlohmann::json& panel : dashboard["panels"]) {
    for (const nlohmann::json& target : panel["targets"]) {
      const std::set<std::string> names = find_names(target["expr"].get<std::string>());
      std::string labels = "instance, pid";
      for (const LiveMetricRow& row : live_metric_table())
        if (names.contains(sample_name(row))) labels += ", " + std::string(row.labels);
      const std::string legend = target.value("legendFormat", "");
      for (std::sregex_iterator at(legend.begin(), legend.end(), label), end; at != end; ++at)
        EXPECT_NE((", " + labels + ",").find(", " + at->str(1) + ","), std::string::npos) << target;
    }
  }
}

}  // namespace
}  // namespace loaderscope::monitor
