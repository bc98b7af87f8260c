// Entries of words.md: what to do about a word of an answer, how it is measured, when it is wrong.
#pragma once

#include <span>
#include <string_view>

namespace loaderscope::manual {

// Family of words that are in no table, such as "p99". Their text is one sentence.
constexpr std::string_view kAnswerWord = "word";

// Labels of the lines of an entry. "Do:" is missing if the user can do nothing.
constexpr std::string_view kWordLabels[] = {"Do: ", "Measured: ", "Wrong when: "};

// Section "### NAME" below "## Findings", "## Causes" or another heading of a family.
struct WordEntry {
  std::string_view family;  // name in `loaderscope list`: "finding", "cause", "why"
  std::string_view name;
  std::string_view text;  // labelled lines, as they are broken in the file
};

std::span<const WordEntry> word_entries();
const WordEntry* find_word(std::string_view family, std::string_view name);  // null if missing

}  // namespace loaderscope::manual
