// The house language in tables that people read: the help of rows, fields, commands and flags, and
// the definitions of metrics. The word lists are those of scripts/prose, which reads the sources.
#include <gtest/gtest.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "cli/command.h"
#include "loaderscope/rows.h"
#include "loaderscope/settings.h"
#include "manual/metrics.h"

namespace loaderscope {
namespace {

// Known faults in help sentences. The number only falls: lower it with each fix.
constexpr std::size_t kKnownFaults = 0;
constexpr std::size_t kMaxSentence = 90;
constexpr std::size_t kMaxHelp = 2 * kMaxSentence;  // two lines

using Strings = std::vector<std::string>;

Strings read_word_list(const std::string& name) {
  std::ifstream file(LOADERSCOPE_SOURCE_DIR "/scripts/" + name);
  Strings lines;
  for (std::string line; std::getline(file, line);)
    if (!line.empty() && line.front() != '#') lines.push_back(line);
  EXPECT_FALSE(lines.empty()) << name;
  return lines;
}

// Lower-case words between spaces: " cannot tell  and ". Each other character becomes a space.
std::string spaced(std::string_view text) {
  std::string words = " " + std::string(text) + " ";
  for (char& c : words) {
    const bool is_part = std::isalnum(static_cast<unsigned char>(c)) || c == '-' || c == '_';
    c = is_part ? static_cast<char>(std::tolower(static_cast<unsigned char>(c))) : ' ';
  }
  return words;
}

// Appends the phrases of a cell such as "fix, fixes".
void append_phrases(Strings& phrases, const std::string& cell) {
  std::istringstream parts(cell);
  for (std::string part; std::getline(parts, part, ',');) {
    const std::size_t begin = part.find_first_not_of(' '), end = part.find_last_not_of(' ');
    if (begin != part.npos) phrases.push_back(spaced(part.substr(begin, end + 1 - begin)));
  }
}

std::string first_word(std::string_view text) {
  std::string word;
  std::istringstream(spaced(text)) >> word;
  return word;
}

std::size_t longest_sentence(std::string_view text) {
  std::size_t longest = 0, begin = 0;
  for (std::size_t end; (end = text.find(". ", begin)) != text.npos; begin = end + 2)
    longest = std::max(longest, end + 1 - begin);
  return std::max(longest, text.size() - begin);
}

class HelpProse : public testing::Test {
 protected:
  HelpProse() {
    for (const std::string& row : read_word_list("prose.words")) {  // BANNED | INSTEAD | ALLOWED
      append_phrases(banned_, row.substr(0, row.find('|')));
      append_phrases(allowed_, row.substr(row.rfind('|') + 1));
    }
    for (const std::string& row : read_word_list("prose.verbs")) {
      base_verbs_.insert(first_word(row));
      verbs_.insert({first_word(row), row.substr(row.find(' ') + 1)});
    }
  }

  void check_words(std::string_view place, std::string_view text) {
    std::string words = spaced(text);
    for (const std::string& phrase : allowed_)
      if (const auto at = words.find(phrase); at != words.npos) words.erase(at, phrase.size() - 1);
    for (const std::string& phrase : banned_)
      if (words.find(phrase) != words.npos) add(place, text, "P3:" + phrase);
  }

  void check_help(std::string_view place, std::string_view text) {
    check_words(place, text);
    if (text.empty() || std::islower(static_cast<unsigned char>(text.front())))
      add(place, text, "P9: no capital");
    if (!text.ends_with('.')) add(place, text, "P9: no full stop");
    if (longest_sentence(text) > kMaxSentence)
      add(place, text, "P9: a sentence of more than 90 characters");
    if (text.size() > kMaxHelp) add(place, text, "P9: more than 180 characters");
    std::istringstream words(spaced(text));
    bool has_verb = false;
    for (std::string word; words >> word;) has_verb |= verbs_.contains(word);
    if (!has_verb) add(place, text, "P9: no verb");
  }

  void check_command(const Command& command) {
    check_help(command.row.name, command.row.help);
    if (!base_verbs_.contains(first_word(command.row.help)))
      add(command.row.name, command.row.help, "P9: begins with no verb");
    CLI::App app;
    const Action action = command.declare ? command.declare(app) : Action();
    for (const CLI::Option* option : app.get_options()) {
      const std::string flag = option->get_single_name();
      if (flag != "help" && find_field(flag) == nullptr)
        check_help(flag, option->get_description());
    }
    for (const Command& part : command.parts) check_command(part);
  }

  void add(std::string_view place, std::string_view text, const std::string& fault) {
    faults_.push_back(std::string(place) + ": " + fault + ": " + std::string(text));
  }

  Strings banned_, allowed_;
  std::set<std::string> base_verbs_;
  std::set<std::string> verbs_ = {"is", "are", "has", "have", "can", "cannot", "may", "must"};
  Strings faults_;
};

TEST_F(HelpProse, FindsEachKindOfFault) {
  check_help("flag", "Resume an interrupted run.");
  check_help("flag", "Print what the limit stands for.");
  EXPECT_EQ(faults_, Strings());
  check_help("flag", "the first file goes on");
  EXPECT_EQ(faults_.size(), 4U);  // P3, and P9 without a capital, a full stop and a verb
  check_help("flag", "Read " + std::string(kMaxSentence, 'x') + ".");
  EXPECT_EQ(faults_.size(), 5U);
  const std::string sentence = "Read " + std::string(kMaxSentence - 6, 'x') + ".";
  check_help("flag", sentence + " Read.");
  EXPECT_EQ(faults_.size(), 5U);
  check_help("flag", sentence + " " + sentence);
  EXPECT_EQ(faults_.size(), 6U);  // 181 characters
}

TEST_F(HelpProse, CountsNoNewFault) {
  for (const FamilyListing& family : families()) {
    if (family.family == "command") continue;
    for (const Row& row : family.rows) check_help(row.name, row.help);
  }
  for (const Field& field : fields()) check_help(field.name, field.help);
  for (const Command& command : command_table()) check_command(command);
  for (const manual::MetricEntry& entry : manual::metric_entries())
    check_words(entry.name, entry.what);
  std::string list;
  for (const std::string& fault : faults_) list += fault + "\n";
  EXPECT_EQ(faults_.size(), kKnownFaults) << list << "Fix new faults, or lower kKnownFaults.";
}

}  // namespace
}  // namespace loaderscope
