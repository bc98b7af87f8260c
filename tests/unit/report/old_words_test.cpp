// Words of earlier versions: results, scenarios, conditions and paths that have them are read, and
// only today's words are written.
#include "base/old_words.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

#include "loaderscope/findings.h"
#include "loaderscope/settings.h"
#include "manual/metrics.h"
#include "record/environment_changes.h"
#include "report/results.h"
#include "report/saved.h"
#include "report/schemas.h"
#include "settings/engine_table.h"
#include "settings/requirement.h"
#include "source/registry.h"
#include "unit/report/sample_record.h"
#include "unit/report/sample_results.h"
#include "watch/watch.h"

namespace loaderscope {
namespace {

using namespace test;
using testing::HasSubstr;
using testing::Not;

using Renames = std::vector<std::pair<std::string, std::string>>;

// `text` with each first word replaced by its second; each is there.
std::string renamed(std::string text, const Renames& renames) {
  for (const auto& [from, to] : renames) {
    std::size_t at = text.find(from);
    EXPECT_NE(at, text.npos) << from;
    for (; at != text.npos; at = text.find(from, at + to.size())) text.replace(at, from.size(), to);
  }
  return text;
}

std::string json_of_run(const RunRecord& record) {
  std::ostringstream out;
  write_json(out, make_result(record, analysed(record, {})));
  return out.str();
}

template <class Table>
bool has_row(const Table& table, std::string_view name) {
  return std::any_of(std::begin(table), std::end(table),
                     [&](const auto& each) { return each.row.name == name; });
}

bool is_word_of_today(WordKind kind, std::string_view name) {
  const auto& limits = watch::limit_names();
  switch (kind) {
    case WordKind::setting:
      return std::any_of(fields().begin(), fields().end(),
                         [&](const Field& field) { return field.name == name; });
    case WordKind::engine:
      return has_row(engine_table(), name);
    case WordKind::metric:
      return manual::metric_entry(name) != nullptr;
    case WordKind::finding:
      return has_row(finding_table(), name);
    case WordKind::limit:
      return std::find(limits.begin(), limits.end(), name) != limits.end();
    case WordKind::parameter:
      return name == "length";
  }
  return false;
}

TEST(OldWords, MapsToCurrentWords) {
  for (const OldWord& word : old_words()) {
    EXPECT_TRUE(is_word_of_today(word.kind, word.name)) << word.name;
    EXPECT_FALSE(is_word_of_today(word.kind, word.old_name)) << word.old_name;
    EXPECT_EQ(current_word(word.kind, word.old_name), word.name);
    EXPECT_EQ(old_word(word.kind, word.name), word.old_name);
  }
  EXPECT_EQ(current_word(WordKind::setting, "seed"), "seed");
  EXPECT_EQ(old_word(WordKind::setting, "seed"), "");
}

TEST(OldWords, ReplacesOldWordsInSavedRun) {
  RunRecord record = full_record();
  record.engine = record.config.engine.value = "import";
  record.config.loader.task.set(TaskShape::sample);
  record.config.loader.prefetch_depth.set(9);
  record.config.measure.hang_after.set(7 * kSecond);
  record.metrics.push_back({"gpu.throttled_share", "1", "a share", 0.25});
  record.metrics.push_back({"gpu.throttled_by_heat_share", "1", "a share", 0.125});
  record.metrics.push_back({"rendezvous.notification_delay_s", "s", "a delay", 0.5});
  const std::string now = json_of_run(record);
  const std::string before = renamed(now, {{"\"prefetch_depth\": 9", "\"window\": 9"},
                                           {"\"prefetch_depth\"", "\"window\""},
                                           {"hang_after", "stall_after"},
                                           {"\"engine\": \"import\"", "\"engine\": \"trace\""},
                                           {"throttled", "held"},
                                           {"\"rendezvous\": {", "\"meeting\": {"},
                                           {"rendezvous.", "meeting."},
                                           {"notification_delay_s", "late_word_s"}});
  const SavedRun read = parse_result(before, "old.json");
  EXPECT_EQ(read.record.config.loader.prefetch_depth.value, 9);
  EXPECT_TRUE(read.record.config.loader.prefetch_depth.given);
  EXPECT_EQ(read.record.config.measure.hang_after.value, 7 * kSecond);
  EXPECT_EQ(value_of(read.record.metrics, "gpu.throttled_share"), 0.25);
  EXPECT_EQ(value_of(read.record.metrics, "rendezvous.notification_delay_s"), 0.5);
  EXPECT_EQ(json_of_run(read.record), now);
  EXPECT_EQ(table_text(read.record), table_text(record));
  EXPECT_THAT(table_text(read.record), HasSubstr("gpu.throttled_by_heat_share"));
  EXPECT_THAT(table_text(read.record), Not(HasSubstr("held_by")));
}

// The result of another kind, with the words of an earlier version, is written with those of today.
void expect_same_after_renaming(std::string_view kind_name, const AnyResult& result,
                                const Renames& renames) {
  const ResultKind& kind = find_row(kind_name, result_kinds());
  std::ostringstream now;
  write_json(now, result);
  std::istringstream before(renamed(now.str(), renames));
  std::ostringstream again;
  write_json(again, parse_saved(kind, before, "old.json").result);
  EXPECT_EQ(again.str(), now.str());
}

TEST(OldWords, ReplacesOldWordsInSavedWatch) {
  watch::Watch watch = sample_watch();
  watch.limit = watch::Limit::hang;
  expect_same_after_renaming("watch", make_result(watch, "test"),
                             {{"\"limit\": \"hang\"", "\"limit\": \"standing\""}});
}

TEST(OldWords, ReplacesOldWordsInSavedSweep) {
  const Experiment sweep =
      plan(scenario("cost = decode=8ms\ncompute = 12ms\nbatch = 4\ncores = 4\nsamples = 1000\n"
                    "task = sample\nworkers = 2\nhang-after = 3s"),
           {"prefetch-depth=2,4"});
  expect_same_after_renaming("sweep", make_result(sweep, "test"),
                             {{"\"prefetch_depth\"", "\"window\""},
                              {"\"prefetch-depth\"", "\"window\""},
                              {"hang_after", "stall_after"},
                              {"hang-after", "stall-after"}});
}

TEST(OldWords, ReplacesOldWordsInScenarios) {
  RunConfig config;
  const Scenario scenario = parse_scenario(
      "# expect: finding serialisation-tax num-workers=0\ntask = sample\nwindow = 3\n"
      "stall-after = 2s",
      "old.conf", config);
  EXPECT_EQ(scenario.expect, (std::vector<std::string>{"finding slow-transport num-workers=0"}));
  EXPECT_EQ(config.loader.prefetch_depth.value, 3);
  EXPECT_EQ(config.measure.hang_after.value, 2 * kSecond);
  EXPECT_EQ(parse_change("window=4"), (Change{"prefetch-depth", "4"}));
}

TEST(OldWords, ReplacesOldWordsInData) {
  EXPECT_EQ(parse_data("npy:a.npy?window=4&stride=2", "").words,
            (FormatParameters{{"length", "4"}, {"stride", "2"}}));
}

TEST(OldWords, ReplacesOldWordsInConditions) {
  EXPECT_EQ(parse_requirement("gpu.held_share < 0.1").path, "gpu.throttled_share");
  EXPECT_EQ(parse_requirement("config.stall_after == 10s").path, "config.hang_after");
  EXPECT_EQ(parse_requirement("config.window >= 2").path, "config.prefetch_depth");
  EXPECT_EQ(parse_requirement("window.wall_s >= 2").path, "window.wall_s");
  EXPECT_EQ(parse_requirement("engine == trace").value, "import");
  EXPECT_EQ(parse_requirement("config.num_workers == 2").path, "config.num_workers");
}

}  // namespace
}  // namespace loaderscope
