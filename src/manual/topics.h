// The manual: one Markdown file a topic.
#pragma once

#include <span>
#include <string_view>

#include "base/embedded_file.h"
#include "loaderscope/rows.h"

namespace loaderscope::manual {

// TOPIC.md begins with "# Title", an empty line, and what the topic is in one sentence on one line.
struct Topic {
  Row row;  // the name of the file, and that sentence
  std::string_view title;
  std::string_view text;  // all of the file
};

std::span<const Topic> topic_table();            // by name
const Topic* find_topic(std::string_view name);  // null: there is none

// The first line of `text`, which is cut off it.
std::string_view take_line(std::string_view& text);

std::span<const EmbeddedFile> manual_files();  // made by src/embed.cmake

}  // namespace loaderscope::manual
