// What findings, causes and whys rest on and when they are wrong: the sections of words.md.
#pragma once

#include <span>
#include <string_view>

namespace loaderscope::manual {

// Below "## Findings" (or Causes, Whys) "### NAME", then "Rests on: ..." and "Wrong when: ...".
struct WordEntry {
  std::string_view family;  // of `loaderscope list`: "finding", "cause", "why"
  std::string_view name;
  std::string_view text;  // both paragraphs, as they are broken in the file
};

std::span<const WordEntry> word_entries();

}  // namespace loaderscope::manual
