// Reads the facts of an nsys export about itself: tool, host, recorded categories and lost events.
#include "engine/import/nsys_reader.h"

#include <fmt/format.h>

#include <algorithm>

#include "loaderscope/errors.h"

namespace loaderscope::traces {

// Reads only these facts of the capture. The environment is private.
void NsysReader::read_facts() {
  std::string version;
  file_.for_each("META_DATA_EXPORT", {"name", "value"}, [&](const SqliteRow& row) {
    if (row.text(0) == "EXPORT_PRODUCT_VERSION") version = shown_text(row.text(1));
  });
  run_.tool = version.empty() ? "nsys" : "nsys " + version;
  file_.for_each("META_DATA_CAPTURE", {"name", "value"}, [&](const SqliteRow& row) {
    constexpr std::size_t kMax = 64;
    if (row.text(0) == "CAPTURE_EVENT_TYPE" && captured_.size() < kMax)
      captured_.emplace(row.text(1));
  });
  file_.for_each("TARGET_INFO_SESSION_START_TIME", {"utcEpochNs"}, [&](const SqliteRow& row) {
    constexpr std::int64_t kFarthestUtc = 4'000'000'000'000'000'000;
    const std::int64_t base = row.integer(0);
    base_ = base > 0 && base < kFarthestUtc ? base : 0;
  });
  std::string gpus;
  file_.for_each("TARGET_INFO_GPU", {"name"}, [&](const SqliteRow& row) {
    const std::string name = shown_text(row.text(0));
    constexpr std::size_t kMaxLength = 1024;
    if (!name.empty() && gpus.size() < kMaxLength) gpus += (gpus.empty() ? "" : ", ") + name;
  });
  if (!gpus.empty()) run_.gpus = gpus;
  file_.for_each("TARGET_INFO_SYSTEM_ENV", {"name", "value"}, [&](const SqliteRow& row) {
    if (row.text(0) == "Hostname") run_.host = shown_text(row.text(1));
  });
}

// The export does not contain which trainer started them.
void NsysReader::read_workers() {
  std::set<std::int64_t> workers;
  file_.for_each("ThreadNames", {"nameId", "globalTid"}, [&](const SqliteRow& row) {
    if (meaning_of(row.integer(0, -1)) == Meaning::worker)
      workers.insert(process_of(row.integer(1)));
  });
  if (workers.empty() || gpus_.empty()) return;
  run_.notes.push_back(
      fmt::format("{} processes of a DataLoader's workers were traced", workers.size()));
}

// Quotes what nsys reports about lost events. Other warnings are only counted, as they may quote
// anything.
void NsysReader::read_diagnostics() {
  constexpr std::size_t kMaxSaid = 3, kMaxLength = 200;
  constexpr std::string_view kOfLoss[] = {"ropped",        "lost",          "Not all ",
                                          "not collected", "not be traced", "overflow",
                                          "incomplete",    "issing"};
  const EnumNames levels = enum_names("ENUM_DIAGNOSTIC_SEVERITY_LEVEL");
  std::set<std::string> said;
  std::int64_t others = 0;
  file_.for_each("DIAGNOSTIC_EVENT", {"severity", "text"}, [&](const SqliteRow& row) {
    const auto level = levels.find(row.integer(0, -1));
    if (level == levels.end() || (level->second != "Warning" && level->second != "Error")) return;
    const std::string_view text = row.text(1);
    const bool is_of_loss = std::ranges::any_of(
        kOfLoss, [&](std::string_view word) { return text.find(word) != text.npos; });
    others += !is_of_loss;
    if (is_of_loss && said.size() < kMaxSaid) said.insert(shown_text(text.substr(0, kMaxLength)));
  });
  for (const std::string& text : said)
    run_.notes.push_back("nsys says what it did not record: " + text);
  if (others > 0)
    run_.notes.push_back(fmt::format("nsys warned of something {}; its own window shows it",
                                     others == 1 ? "else" : fmt::format("else {} times", others)));
}

}  // namespace loaderscope::traces
