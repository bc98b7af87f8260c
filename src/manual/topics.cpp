#include "manual/topics.h"

#include <algorithm>
#include <vector>

#include "manual/metrics.h"

namespace loaderscope::manual {
namespace {

constexpr std::string_view kEnding = ".md";
constexpr std::string_view kMetrics = "metrics.md";  // made of the table of metrics

constexpr std::string_view kHeading = "# ";

// Place of a topic in the manual. A file without a row is at the end of the reference.
struct TopicPlace {
  std::string_view name;
  TopicSection section;
};

constexpr TopicPlace kPlaces[] = {
    {"start", TopicSection::kStart},
    {"gpu-utilisation", TopicSection::kGuide},
    {"workers", TopicSection::kGuide},
    {"slow-storage", TopicSection::kGuide},
    {"slow-decoding", TopicSection::kGuide},
    {"gpu-decoding", TopicSection::kGuide},
    {"own-code", TopicSection::kGuide},
    {"hangs", TopicSection::kGuide},
    {"memory-growth", TopicSection::kGuide},
    {"stragglers", TopicSection::kGuide},
    {"running-job", TopicSection::kGuide},
    {"traces", TopicSection::kGuide},
    {"gate", TopicSection::kGuide},
    {"larger-job", TopicSection::kGuide},
    {"frameworks", TopicSection::kGuide},
    {"did-it-help", TopicSection::kGuide},
    {"account", TopicSection::kConcept},
    {"whys", TopicSection::kConcept},
    {"verdict", TopicSection::kConcept},
    {"prediction", TopicSection::kConcept},
    {"proof", TopicSection::kConcept},
    {"overhead", TopicSection::kConcept},
    {"blind-spots", TopicSection::kConcept},
    {"engines", TopicSection::kConcept},
    {"loaderscope", TopicSection::kReference},
    {"words", TopicSection::kReference},
    {"metrics", TopicSection::kReference},
    {"monitoring", TopicSection::kReference},
    {"formats", TopicSection::kReference},
    {"packing", TopicSection::kReference},
    {"remote", TopicSection::kReference},
    {"results", TopicSection::kReference},
    {"apply-fix", TopicSection::kReference},
    {"agents", TopicSection::kReference},
    {"jobs", TopicSection::kReference},
    {"install", TopicSection::kReference},
    {"python", TopicSection::kReference},
    {"trackers", TopicSection::kReference},
    {"machine", TopicSection::kReference},
    {"gpu", TopicSection::kReference},
    {"scenarios", TopicSection::kReference},
    {"project", TopicSection::kReference},
    {"speed", TopicSection::kReference},
};

constexpr TopicAlias kAliases[] = {
    {"answer", "start"},
    {"notebooks", "python"},
    {"wandb", "trackers"},
    {"mlflow", "trackers"},
    {"tensorboard", "trackers"},
    {"own-loader", "gpu-utilisation"},
    {"settings", "workers"},
    {"scale", "larger-job"},
    {"trust", "proof"},
    {"pages", "results"},
    {"nsight", "results"},
    {"peers", "engines"},
    {"commands", "loaderscope"},
    {"findings", "words"},
    {"gpu-utilization", "gpu-utilisation"},
};

Topic make_topic(const EmbeddedFile& file, TopicSection section) {
  Topic topic;
  topic.text = file.name == kMetrics ? std::string_view(metrics_page()) : file.content;
  topic.section = section;
  topic.row.name = file.name.substr(0, file.name.size() - kEnding.size());
  std::string_view rest = topic.text;
  topic.title = take_line(rest).substr(kHeading.size());
  take_line(rest);
  topic.row.help = take_line(rest);
  return topic;
}

bool has_name(const EmbeddedFile& file, std::string_view name) {
  return file.name.substr(0, file.name.size() - kEnding.size()) == name;
}

std::vector<Topic> all_topics() {
  std::vector<Topic> topics;
  const std::span<const EmbeddedFile> files = manual_files();
  for (const TopicPlace& place : kPlaces) {
    for (const EmbeddedFile& file : files)
      if (has_name(file, place.name)) topics.push_back(make_topic(file, place.section));
  }
  for (const EmbeddedFile& file : files) {
    if (std::none_of(std::begin(kPlaces), std::end(kPlaces),
                     [&](const TopicPlace& place) { return has_name(file, place.name); }))
      topics.push_back(make_topic(file, TopicSection::kReference));
  }
  return topics;
}

}  // namespace

std::string_view take_line(std::string_view& text) {
  const std::string_view line = text.substr(0, text.find('\n'));
  text.remove_prefix(std::min(text.size(), line.size() + 1));
  return line;
}

std::span<const Topic> topic_table() {
  static const std::vector<Topic> topics = all_topics();
  return topics;
}

std::span<const TopicAlias> topic_aliases() { return kAliases; }

std::string_view section_heading(TopicSection section) {
  switch (section) {
    case TopicSection::kStart:
      return "Start here";
    case TopicSection::kGuide:
      return "Guides";
    case TopicSection::kConcept:
      return "Concepts";
    case TopicSection::kReference:
      return "Reference";
  }
  return "";
}

const Topic* find_topic(std::string_view name) {
  const auto alias = std::find_if(std::begin(kAliases), std::end(kAliases),
                                  [&](const TopicAlias& each) { return each.old_name == name; });
  const std::string_view wanted = alias == std::end(kAliases) ? name : alias->name;
  const std::span<const Topic> topics = topic_table();
  const auto found = std::find_if(topics.begin(), topics.end(),
                                  [&](const Topic& topic) { return topic.row.name == wanted; });
  return found == topics.end() ? nullptr : &*found;
}

}  // namespace loaderscope::manual
