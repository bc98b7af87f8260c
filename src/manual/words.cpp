#include "manual/words.h"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "manual/topics.h"

namespace loaderscope::manual {
namespace {

constexpr std::array<std::pair<std::string_view, std::string_view>, 6> kFamilies = {
    {{"Words of an answer", kAnswerWord},
     {"The account", "account"},
     {"Causes", "cause"},
     {"Whys", "why"},
     {"Gaps of a trace", "gap"},
     {"Findings", "finding"}}};

std::string_view find_family(std::string_view heading) {
  for (const auto& [title, family] : kFamilies) {
    if (title == heading) return family;
  }
  return "";
}

std::string_view trimmed_lines(std::string_view text) {
  while (text.starts_with('\n')) text.remove_prefix(1);
  while (text.ends_with('\n')) text.remove_suffix(1);
  return text;
}

std::vector<WordEntry> read_entries(std::string_view text) {
  std::vector<WordEntry> entries;
  std::string_view family;
  while (!text.empty()) {
    const std::string_view line = take_line(text);
    if (line.starts_with("## ")) family = find_family(line.substr(3));
    if (!line.starts_with("### ")) continue;
    const auto end = std::min(text.find("\n#"), text.size());
    entries.push_back({family, line.substr(4), trimmed_lines(text.substr(0, end))});
  }
  return entries;
}

}  // namespace

std::span<const WordEntry> word_entries() {
  static const std::vector<WordEntry> entries = [] {
    const std::span<const Topic> topics = topic_table();
    const auto words = std::find_if(topics.begin(), topics.end(),
                                    [](const Topic& topic) { return topic.row.name == "words"; });
    return words == topics.end() ? std::vector<WordEntry>() : read_entries(words->text);
  }();
  return entries;
}

const WordEntry* find_word(std::string_view family, std::string_view name) {
  const std::span<const WordEntry> entries = word_entries();
  const auto found = std::find_if(entries.begin(), entries.end(), [&](const WordEntry& entry) {
    return entry.family == family && entry.name == name;
  });
  return found == entries.end() ? nullptr : &*found;
}

}  // namespace loaderscope::manual
