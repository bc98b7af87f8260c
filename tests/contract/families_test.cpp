// Checks the contract of every row of every family and of every field, also of new ones.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <sstream>
#include <string>

#include "loaderscope/errors.h"
#include "loaderscope/rows.h"
#include "loaderscope/settings.h"

namespace loaderscope {
namespace {

using ::testing::HasSubstr;

// A sentence for people: something, on one line, with a full stop.
void expect_sentence(std::string_view text, std::string_view owner) {
  ASSERT_FALSE(text.empty()) << owner;
  EXPECT_EQ(text.find('\n'), text.npos) << owner;
  EXPECT_EQ(text.back(), '.') << owner << ": " << text;
  EXPECT_NE(text.front(), ' ') << owner;
}

void expect_word(std::string_view name) {
  ASSERT_FALSE(name.empty());
  EXPECT_EQ(name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-.:"), name.npos) << name;
}

TEST(Families, ListsUniqueNamesWithRows) {
  std::set<std::string_view> names;
  for (const FamilyListing& family : families()) {
    expect_word(family.family);
    EXPECT_TRUE(names.insert(family.family).second) << family.family;
    EXPECT_FALSE(family.rows.empty()) << family.family;
  }
}

TEST(Families, DescribesEveryRowAndWhyItIsUnavailable) {
  for (const FamilyListing& family : families()) {
    std::set<std::string_view> names;
    for (const Row& row : family.rows) {
      expect_word(row.name);
      EXPECT_TRUE(names.insert(row.name).second) << family.family << " " << row.name;
      expect_sentence(row.help, row.name);
      if (const auto reason = row.reason_not_available()) expect_sentence(*reason, row.name);
    }
  }
}

TEST(Families, FlagsAcceptEveryRow) {
  for (const FamilyListing& family : families()) {
    if (!family.flag.starts_with("--")) continue;
    const Field* field = find_field(family.flag.substr(2));
    if (field == nullptr || field->repeats) continue;
    for (const Row& row : family.rows) {
      RunConfig config;
      EXPECT_NO_THROW(field->set(config, row.name)) << family.flag << " " << row.name;
      EXPECT_EQ(field->text(config), row.name);
    }
  }
}

TEST(Families, CostsAcceptEveryStage) {
  for (const FamilyListing& family : families()) {
    if (family.flag != "--cost") continue;
    for (const Row& row : family.rows) {
      RunConfig config;
      EXPECT_NO_THROW(set_field(config, "", "cost", std::string(row.name) + "=1ms"));
      EXPECT_NO_THROW(set_field(config, "", "inject", std::string(row.name) + "=+1ms"));
    }
  }
}

TEST(Fields, UsesUniqueNamesAndDescribesEachField) {
  std::set<std::string> names;
  const auto expect_unique = [&](std::string_view name) {
    expect_word(name);
    EXPECT_TRUE(names.insert(std::string(name)).second) << name;
  };
  for (const Field& field : fields()) {
    expect_unique(field.name);
    for (std::string_view alias : field.aliases) expect_unique(alias);
    if (field.is_switch()) expect_unique("no-" + std::string(field.name));
    expect_sentence(field.help, field.name);
    EXPECT_FALSE(field.group.empty()) << field.name;
  }
}

TEST(Fields, ListsGroupsWithoutGaps) {
  std::set<std::string_view> done;
  std::string_view current;
  for (const Field& field : fields()) {
    if (field.group == current) continue;
    EXPECT_TRUE(done.insert(field.group).second) << field.group << " " << field.name;
    current = field.group;
  }
}

TEST(Fields, ReadsBackDefaultText) {
  const RunConfig defaults;
  for (const Field& field : fields()) {
    EXPECT_FALSE(field.given(defaults)) << field.name;
    const std::string text = field.text(defaults);
    if (field.repeats) {
      RunConfig config;
      for (const std::string& value : field.texts(defaults))
        ASSERT_NO_THROW(field.set(config, value)) << field.name;
      EXPECT_EQ(field.texts(config), field.texts(defaults)) << field.name;
      continue;
    }
    EXPECT_EQ(field.texts(defaults), std::vector<std::string>{text}) << field.name;
    if (text.empty()) continue;  // json: no file
    RunConfig config;
    ASSERT_NO_THROW(field.set(config, text)) << field.name;
    EXPECT_EQ(field.text(config), text) << field.name;
    EXPECT_TRUE(field.given(config)) << field.name;
  }
}

TEST(Fields, SpellsNumbersWithDigits) {
  const RunConfig defaults;
  for (const Field& field : fields()) {
    if (!field.is_number) continue;
    const std::string text = field.text(defaults);
    EXPECT_EQ(text.find_first_not_of("0123456789."), text.npos) << field.name;
  }
}

TEST(Fields, AcceptsEveryChoiceOfHelp) {
  for (const Field& field : fields()) {
    const bool has_words =
        field.value_name.find('|') != field.value_name.npos && field.name != "warmup";
    if (!has_words) continue;
    std::istringstream words{std::string(field.value_name)};
    for (std::string word; std::getline(words, word, '|');) {
      RunConfig config;
      EXPECT_NO_THROW(field.set(config, word)) << field.name << " " << word;
    }
  }
}

TEST(Fields, RejectsNonsenseWithKeyAndPlace) {
  for (const Field& field : fields()) {
    const std::set<std::string_view> free_text = {"index",  "data",    "cache-dir",
                                                  "python", "command", "directory"};
    std::vector<std::string_view> all_nonsense;
    if (field.name != "command") all_nonsense.push_back("");  // a program's word may be empty
    if (!free_text.contains(field.name) && !field.is_about(about::kSaved))
      all_nonsense.insert(all_nonsense.end(), {"%", "-1", "nan", "\n"});
    for (std::string_view nonsense : all_nonsense) {
      RunConfig config;
      try {
        set_field(config, "x.conf:7", field.name, nonsense);
        ADD_FAILURE() << field.name << " takes '" << nonsense << "'";
      } catch (const UsageError& error) {
        EXPECT_THAT(error.what(), HasSubstr("x.conf:7: " + std::string(field.name) + " = "));
        EXPECT_THAT(error.what(), ::testing::Not(HasSubstr("\n")));
      }
    }
  }
}

}  // namespace
}  // namespace loaderscope
