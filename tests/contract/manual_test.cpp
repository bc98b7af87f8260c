// Checks the promises of every topic of the manual. Every command line in the manual and in the
// README is understood.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <regex>
#include <set>
#include <sstream>

#include "cli/command.h"
#include "experiment/axes.h"
#include "loaderscope/settings.h"
#include "manual/metrics.h"
#include "manual/topics.h"
#include "manual/words.h"
#include "report/text_table.h"

namespace loaderscope {
namespace {

using manual::Topic;
using testing::HasSubstr;
using Arguments = std::vector<std::string>;

std::string file_text(const std::string& name) {
  std::ifstream file(LOADERSCOPE_SOURCE_DIR "/" + name);
  return {std::istreambuf_iterator<char>(file), {}};
}

// Calls `take(line, is_code)` for each line except the fences, which a list may indent.
template <class Take>
void for_each_line(std::string_view text, const Take& take) {
  std::istringstream lines{std::string(text)};
  bool is_code = false;
  for (std::string line; std::getline(lines, line);) {
    const auto begin = std::min(line.find_first_not_of(' '), line.size());
    if (line.substr(begin).starts_with("```")) {
      is_code = !is_code;
    } else {
      take(line, is_code);
    }
  }
  EXPECT_FALSE(is_code) << "a code block does not end";
}

// The words of each command of a shell line, without quotes and comments.
std::vector<Arguments> split_commands(const std::string& line) {
  std::vector<Arguments> commands(1);
  std::string word;
  bool is_word = false;
  char quote = 0;
  const auto end_word = [&] {
    if (word == "&&") {
      commands.emplace_back();
    } else if (is_word) {
      commands.back().push_back(word);
    }
    word.clear();
    is_word = false;
  };
  for (const char c : line) {
    if (quote == 0 && c == '#' && !is_word) break;
    if (quote == 0 && c == ' ') {
      end_word();
      continue;
    }
    is_word = true;
    if (quote == 0 && (c == '\'' || c == '"')) {
      quote = c;
    } else if (c == quote) {
      quote = 0;
    } else {
      word += c;
    }
  }
  end_word();
  return commands;
}

std::vector<Arguments> find_commands(std::string_view text) {
  std::vector<Arguments> found;
  for_each_line(text, [&](std::string line, bool is_code) {
    line.erase(0, std::min(line.find_first_not_of(' '), line.size()));
    if (line.starts_with("$ ")) line.erase(0, 2);
    if (!is_code || !line.starts_with("loaderscope ")) return;
    for (Arguments& words : split_commands(line)) {
      if (words.empty() || words.front() != "loaderscope") continue;
      words.erase(words.begin());
      found.push_back(std::move(words));
    }
  });
  return found;
}

// Checks the values of flags that are settings of a run, up to the program after --.
void expect_values(const Arguments& words) {
  if (words.empty() || words.front() == "probe") return;  // probe has its own --demand
  for (std::size_t i = 0; i + 1 < words.size() && words[i] != "--"; ++i) {
    if (words[i] == "--scenario") {
      EXPECT_TRUE(std::filesystem::exists(LOADERSCOPE_SOURCE_DIR "/" + words[i + 1]))
          << words[i + 1];
    }
    if (!words[i].starts_with("--") || words[i + 1].starts_with("--")) continue;
    const Field* field = find_field(words[i].substr(2));
    RunConfig config;
    if (field == nullptr || field->is_switch()) continue;
    // A sweep takes lists of values.
    const bool is_list = words.front() == "sweep" && !field->repeats;
    for (const std::string& value : is_list ? split_values(words[i + 1]) : Arguments{words[i + 1]})
      EXPECT_NO_THROW(set_field(config, "", words[i].substr(2), value)) << words[i];
  }
}

std::size_t expect_understood(std::string_view text) {
  const std::vector<Arguments> commands = find_commands(text);
  for (const Arguments& words : commands) {
    SCOPED_TRACE(testing::PrintToString(words));
    EXPECT_NO_THROW(check_command_line(words));
    expect_values(words);
  }
  return commands.size();
}

TEST(Manual, GivesEveryTopicTitleSentenceAndText) {
  EXPECT_GE(manual::topic_table().size(), 10U);
  for (const Topic& topic : manual::topic_table()) {
    SCOPED_TRACE(topic.row.name);
    EXPECT_FALSE(topic.title.empty());
    const std::string head = "# " + std::string(topic.title) + "\n\n" + std::string(topic.row.help);
    EXPECT_TRUE(topic.text.starts_with(head + "\n\n"));
    EXPECT_LE(count_columns(topic.row.help), 84U);
    EXPECT_GT(topic.text.size(), 2 * head.size());
    EXPECT_EQ(topic.text.back(), '\n');
    for_each_line(topic.text, [](const std::string& line, bool) {
      EXPECT_LE(count_columns(line), 120U) << line;
    });
  }
}

TEST(Manual, BeginsWithStartAndFifteenGuides) {
  std::map<manual::TopicSection, int> topics;
  for (const Topic& topic : manual::topic_table()) ++topics[topic.section];
  EXPECT_EQ(topics[manual::TopicSection::kStart], 1);
  EXPECT_EQ(topics[manual::TopicSection::kGuide], 15);
  EXPECT_EQ(topics[manual::TopicSection::kConcept], 8);
  EXPECT_EQ(manual::topic_table().front().row.name, "start");
  for (const Topic& topic : manual::topic_table()) {
    if (topic.section != manual::TopicSection::kGuide) continue;
    EXPECT_THAT(std::string(topic.text), HasSubstr("\n## When to distrust it\n")) << topic.row.name;
  }
}

TEST(Manual, FindsTopicsByTheirOldNames) {
  for (const char* old_name :
       {"answer",     "engines",  "formats", "gate",       "gpu",         "loaderscope",
        "machine",    "metrics",  "nsight",  "own-loader", "pages",       "peers",
        "prediction", "proof",    "python",  "remote",     "running-job", "scale",
        "scenarios",  "settings", "speed",   "traces",     "trust",       "words"})
    EXPECT_NE(manual::find_topic(old_name), nullptr) << old_name;
  for (const manual::TopicAlias& alias : manual::topic_aliases()) {
    EXPECT_NE(manual::find_topic(alias.name), nullptr) << alias.name;
    for (const Topic& topic : manual::topic_table()) EXPECT_NE(topic.row.name, alias.old_name);
  }
}

TEST(Manual, NamesTopicsUnlikeCommands) {
  for (const Topic& topic : manual::topic_table()) {
    for (const Command& command : command_table()) EXPECT_NE(topic.row.name, command.row.name);
  }
}

TEST(Manual, ShowsOnlyValidCommandLines) {
  std::size_t commands = 0;
  for (const Topic& topic : manual::topic_table()) {
    SCOPED_TRACE(topic.row.name);
    commands += expect_understood(topic.text);
  }
  EXPECT_GT(commands, 30U);  // some were found
}

TEST(Manual, UnderstandsTheCommandLinesOfTheReadme) {
  EXPECT_GT(expect_understood(file_text("README.md")), 5U);  // some were found
}

TEST(Manual, NamesEveryCommandOnFirstPage) {
  const std::string page = file_text("src/manual/loaderscope.md");
  for (const Command& command : command_table()) {
    const std::string name(command.row.name);
    if (command.parts.empty()) {
      EXPECT_THAT(page, HasSubstr("| `" + name + "` | "));
    }
    for (const Command& part : command.parts)
      EXPECT_THAT(page, HasSubstr("`" + name + " " + std::string(part.row.name) + "`"));
  }
}

TEST(Manual, PointsOnlyToTopicsAndCommands) {
  const std::regex pointer("`(?:loaderscope )?help ([a-z-]+)`");
  std::size_t pointers = 0;
  for (const Topic& topic : manual::topic_table()) {
    const std::string text(topic.text);
    for (std::sregex_iterator at(text.begin(), text.end(), pointer), end; at != end; ++at) {
      EXPECT_NE(manual::find_topic((*at)[1].str()), nullptr) << topic.row.name << ": " << at->str();
      ++pointers;
    }
  }
  EXPECT_GT(pointers, 20U);  // some were found
}

// No row is without an entry, and no entry is without a row.
TEST(Manual, ExplainsEveryFindingCauseWhyAndGap) {
  std::map<std::string, std::set<std::string>> said;
  for (const manual::WordEntry& entry : manual::word_entries()) {
    SCOPED_TRACE(entry.name);
    const std::string text(entry.text);
    EXPECT_TRUE(said[std::string(entry.family)].emplace(entry.name).second) << "two entries";
    if (entry.family == manual::kAnswerWord) {
      EXPECT_EQ(text.back(), '.');
      continue;
    }
    EXPECT_TRUE(text.starts_with("Do: ") || text.starts_with("Measured: "));
    EXPECT_THAT("\n" + text, HasSubstr("\nMeasured: "));
    EXPECT_THAT(text, HasSubstr("\nWrong when: "));
  }
  EXPECT_EQ(said.size(), 6U);
  for (const FamilyListing& listing : families()) {
    const auto found = said.find(std::string(listing.family));
    if (found == said.end()) continue;
    std::set<std::string> rows;
    for (const Row& row : listing.rows) rows.emplace(row.name);
    EXPECT_EQ(found->second, rows) << listing.family;
  }
}

TEST(Manual, CopiesGeneratedPageOfMetrics) {
  EXPECT_TRUE(file_text("src/manual/metrics.md") == manual::metrics_page())
      << "src/manual/metrics.md is another; run loaderscope help metrics > src/manual/metrics.md";
}

TEST(Manual, ShowsEveryMetricWithItsGroup) {
  for (const MetricRow& row : metric_table()) {
    SCOPED_TRACE(row.name);
    const manual::MetricEntry* const entry = manual::metric_entry(row.name);
    ASSERT_NE(entry, nullptr);
    EXPECT_EQ(entry->name, row.name);
    EXPECT_EQ(entry->what, row.sentence);
    EXPECT_EQ(entry->is_of_many(), row.is_pattern());
    EXPECT_TRUE(entry->basis.starts_with("Measured: "));
    EXPECT_THAT(entry->basis, HasSubstr("\nWrong when: "));
    EXPECT_THAT(manual::metrics_page(), HasSubstr("\n- `" + std::string(row.name) + "` ("));
    EXPECT_THAT(manual::metrics_page(), HasSubstr("\n\n" + entry->basis + "\n\n- `"));
  }
  EXPECT_EQ(manual::metric_entry("gap.late_launch_longest_s")->name, "gap.KIND_longest_s");
  EXPECT_EQ(manual::metric_entry("gap.late_launch_s")->name, "gap.KIND_s");
}

TEST(Manual, ParsesCommandsLikeShell) {
  EXPECT_EQ(split_commands("a 'b c' \"d\"e#f # g"), (std::vector<Arguments>{{"a", "b c", "de#f"}}));
  EXPECT_EQ(split_commands("a && b ''"), (std::vector<Arguments>{{"a"}, {"b", ""}}));
  EXPECT_THROW(check_command_line({"run", "--bogus"}), UsageError);
  EXPECT_THROW(check_command_line({"bogus"}), UsageError);
  EXPECT_NO_THROW(check_command_line({"run", "--help"}));
}

}  // namespace
}  // namespace loaderscope
