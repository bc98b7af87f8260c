// The manual: one Markdown file per topic.
#pragma once

#include <span>
#include <string_view>

#include "base/embedded_file.h"
#include "loaderscope/rows.h"

namespace loaderscope::manual {

// Parts of the manual, in the order of `loaderscope help`.
enum class TopicSection { kStart, kGuide, kConcept, kReference };

// TOPIC.md begins with "# Title", an empty line, and a summary of the topic on one line.
struct Topic {
  Row row;  // the name of the file, and the summary
  TopicSection section = TopicSection::kReference;
  std::string_view title;
  std::string_view text;  // the whole file
};

// Name of a topic in an earlier version, which `help` still accepts.
struct TopicAlias {
  std::string_view old_name;
  std::string_view name;
};

std::span<const Topic> topic_table();  // sorted by section, guides in the order of the manual
std::span<const TopicAlias> topic_aliases();
std::string_view section_heading(TopicSection section);

// Takes the name of a topic or an alias. Returns null if no topic has it.
const Topic* find_topic(std::string_view name);

// Returns the first line of `text` and removes it from `text`.
std::string_view take_line(std::string_view& text);

std::span<const EmbeddedFile> manual_files();  // made by src/embed.cmake

}  // namespace loaderscope::manual
