// Checks every row of metrics.def, and that no other file has the name of a metric.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <set>
#include <string>

#include "loaderscope/run_record.h"

namespace loaderscope {
namespace {

namespace fs = std::filesystem;

std::string group_name(std::string_view name) {
  return std::string(name.substr(0, name.find('.')));
}

// "cache_proved" of "cache.proved".
std::string metric_id(std::string_view name) {
  std::string id(name);
  std::replace(id.begin(), id.end(), '.', '_');
  return id;
}

// A comment may name a metric.
std::string without_comments(std::istream& source) {
  std::string text;
  for (std::string line; std::getline(source, line);) {
    const bool is_comment = line.find_first_not_of(' ') == line.find("//");
    text += line.substr(0, is_comment ? 0 : line.find("  //")) + "\n";
  }
  return text;
}

// Calls `take(path, text)` for each C++ file of the program.
template <class Take>
void for_each_source(const Take& take) {
  std::size_t files = 0;
  for (const char* root : {"/src", "/include"}) {
    for (const auto& file :
         fs::recursive_directory_iterator(LOADERSCOPE_SOURCE_DIR + std::string(root))) {
      const std::string kind = file.path().extension();
      if (kind != ".cpp" && kind != ".h" && kind != ".cu") continue;
      std::ifstream source(file.path());
      take(file.path().string(), without_comments(source));
      ++files;
    }
  }
  EXPECT_GT(files, 500U);  // the search found the sources
}

TEST(MetricTable, ListsCompleteRowsWithUniqueNames) {
  const std::set<std::string_view> units = {"s", "bytes", "bytes/s", "1", "1/s"};
  std::set<std::string_view> names;
  std::set<std::string> groups;
  std::string group;
  EXPECT_GT(metric_table().size(), 200U);
  for (const MetricRow& row : metric_table()) {
    SCOPED_TRACE(row.name);
    EXPECT_TRUE(names.insert(row.name).second) << "stands twice";
    EXPECT_EQ(find_metric(row.name), &row);
    EXPECT_TRUE(units.contains(row.unit)) << row.unit;
    EXPECT_TRUE(row.sentence.ends_with('.'));
    EXPECT_FALSE(row.sentence.front() >= 'a' && row.sentence.front() <= 'z') << row.sentence;
    EXPECT_FALSE(row.basis.empty());
    EXPECT_FALSE(row.misleads.empty());
    if (group == group_name(row.name)) continue;
    group = group_name(row.name);
    EXPECT_TRUE(groups.insert(group).second) << "its group stands twice";
  }
}

TEST(MetricTable, FindsRowsOfPatterns) {
  EXPECT_EQ(find_metric("gap.late_launch_longest_s")->name, "gap.KIND_longest_s");
  EXPECT_EQ(find_metric("gap.late_launch_s")->name, "gap.KIND_s");
  EXPECT_EQ(find_metric("workers.threads")->name, "workers.threads");
  EXPECT_EQ(find_metric("workers.opencv_threads")->name, "workers.LIBRARY_threads");
  EXPECT_EQ(find_metric("no.metric"), nullptr);
  EXPECT_TRUE(find_metric("gap.KIND_s")->is_pattern());
  EXPECT_FALSE(find_metric("cache.proved")->is_pattern());
}

TEST(MetricTable, GivesMetricsTheirUnitAndJoin) {
  const Metric made = make_metric(metric::process_cpu_s, "CPU time", 3);
  EXPECT_EQ(made.name, "process.cpu_s");
  EXPECT_EQ(made.unit, "s");
  EXPECT_EQ(made.help, "CPU time");
  EXPECT_EQ(made.value, 3);
  EXPECT_EQ(made.joined, MetricJoin::sum);
  EXPECT_EQ(make_metric("memory.resident_bytes", "", 1).joined, MetricJoin::sum_of_machine);
  EXPECT_EQ(make_metric("data.fingerprint", "", 1).joined, MetricJoin::same);
  EXPECT_EQ(make_metric("gap.late_launch_s", "", 1).joined, MetricJoin::mean);
  EXPECT_THROW(make_metric("no.metric", "", 1), std::logic_error);
}

TEST(MetricTable, ListsOnlyMetricsThatSourcesUse) {
  std::set<std::string> used;
  const std::regex name("\"([a-z_]+\\.[a-z_0-9]+)\""), id("metric::(\\w+)");
  for_each_source([&](const std::string& path, const std::string& text) {
    const std::sregex_iterator end;
    for (std::sregex_iterator at(text.begin(), text.end(), name); at != end; ++at) {
      const MetricRow* row = find_metric((*at)[1].str());
      EXPECT_TRUE(row == nullptr || row->is_pattern())
          << path << ": write metric::" << metric_id((*at)[1].str()) << " instead of " << (*at)[1];
    }
    for (std::sregex_iterator at(text.begin(), text.end(), id); at != end; ++at)
      used.insert((*at)[1]);
  });
  for (const MetricRow& row : metric_table()) {
    EXPECT_TRUE(row.is_pattern() || used.contains(metric_id(row.name)))
        << row.name << ": no source uses its id";
  }
}

}  // namespace
}  // namespace loaderscope
