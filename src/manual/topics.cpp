#include "manual/topics.h"

#include <algorithm>
#include <vector>

#include "manual/metrics.h"

namespace loaderscope::manual {
namespace {

constexpr std::string_view kEnding = ".md";
constexpr std::string_view kMetrics = "metrics.md";  // made of the table of metrics

constexpr std::string_view kHeading = "# ";

Topic topic_of(const EmbeddedFile& file) {
  Topic topic;
  topic.text = file.name == kMetrics ? std::string_view(metrics_page()) : file.content;
  topic.row.name = file.name.substr(0, file.name.size() - kEnding.size());
  std::string_view rest = topic.text;
  topic.title = take_line(rest).substr(kHeading.size());
  take_line(rest);
  topic.row.help = take_line(rest);
  return topic;
}

}  // namespace

std::string_view take_line(std::string_view& text) {
  const std::string_view line = text.substr(0, text.find('\n'));
  text.remove_prefix(std::min(text.size(), line.size() + 1));
  return line;
}

std::span<const Topic> topic_table() {
  static const std::vector<Topic> topics = [] {
    std::vector<Topic> all;
    for (const EmbeddedFile& file : manual_files()) all.push_back(topic_of(file));
    return all;
  }();
  return topics;
}

const Topic* find_topic(std::string_view name) {
  const std::span<const Topic> topics = topic_table();
  const auto found = std::find_if(topics.begin(), topics.end(),
                                  [&](const Topic& topic) { return topic.row.name == name; });
  return found == topics.end() ? nullptr : &*found;
}

}  // namespace loaderscope::manual
