#include <fmt/ostream.h>

#include <algorithm>

#include "loaderscope/errors.h"
#include "report/kinds.h"

namespace loaderscope::dataset {
namespace {

using Counts = std::map<std::string, std::int64_t, std::less<>>;

std::string show_bytes(std::int64_t bytes) { return show_size(static_cast<double>(bytes)); }

double share_of(std::int64_t part, std::int64_t whole) {
  return whole == 0 ? 0 : 100 * static_cast<double>(part) / static_cast<double>(whole);
}

// "420 (90.0 %), 444 (10.0 %)": the most frequent first.
std::string shares(const Counts& counts) {
  std::vector<std::pair<std::int64_t, std::string>> ordered;
  std::int64_t whole = 0;
  for (const auto& [name, count] : counts) {
    ordered.emplace_back(-count, name);
    whole += count;
  }
  std::sort(ordered.begin(), ordered.end());
  std::string text;
  for (const auto& [count, name] : ordered) {
    if (!text.empty()) text += ", ";
    text += fmt::format("{} ({:.1f} %)", name, share_of(-count, whole));
  }
  return text;
}

void line(std::ostream& out, std::string_view name, const std::string& value) {
  fmt::print(out, "  {:<14}{}\n", name, value);
}

void write_contents(std::ostream& out, const DatasetInfo& info) {
  const auto n = static_cast<double>(info.images);
  const Histogram& stored = info.stored_bytes.histogram;
  line(out, "stored",
       fmt::format("{}, {} each, {:.3f} bytes per pixel", show_bytes(info.bytes),
                   show_size(static_cast<double>(info.bytes) / n),
                   static_cast<double>(info.bytes) / static_cast<double>(info.pixels)));
  line(out, "sizes",
       fmt::format("{} to {}; p10 {}, median {}, p90 {}, p99 {}",
                   show_bytes(info.stored_bytes.least), show_bytes(info.stored_bytes.most),
                   show_bytes(stored.quantile(0.1)), show_bytes(stored.quantile(0.5)),
                   show_bytes(stored.quantile(0.9)), show_bytes(stored.quantile(0.99))));
  line(out, "width",
       fmt::format("{} to {}, median {}", info.widths.least, info.widths.most,
                   info.widths.histogram.quantile(0.5)));
  line(out, "height",
       fmt::format("{} to {}, median {}", info.heights.least, info.heights.most,
                   info.heights.histogram.quantile(0.5)));
  line(out, "format", shares(info.formats));
  if (info.subsamplings.empty()) return;
  line(out, "subsampling", shares(info.subsamplings));
  const auto jpeg = info.formats.find("jpeg");
  line(out, "progressive",
       fmt::format("{:.1f} % of the JPEG images", share_of(info.progressive, jpeg->second)));
}

void write_classes(std::ostream& out, const DatasetInfo& info) {
  if (info.classes.empty()) {
    line(out, "classes", "none: no folders");
    return;
  }
  std::int64_t least = info.classes.begin()->second, most = 0;
  for (const auto& [name, count] : info.classes) {
    least = std::min(least, count);
    most = std::max(most, count);
  }
  line(out, "classes", fmt::format("{}, of {} to {} images", info.classes.size(), least, most));
}

void write_damaged(std::ostream& out, const DatasetInfo& info) {
  const char* how =
      info.checked ? "all decoded" : "headers and ends looked at; --check decodes all";
  line(out, "damaged", fmt::format("{} ({})", info.damaged, how));
  if (info.unreadable_folders > 0) {
    line(out, "unreadable", fmt::format("{} folders", info.unreadable_folders));
  }
  for (const DamagedFile& file : info.first_damaged) {
    fmt::print(out, "    {}: {}\n", shown_text(file.path), shown_text(file.cause));
  }
  const auto named = static_cast<std::int64_t>(info.first_damaged.size());
  const std::int64_t more = info.damaged + info.unreadable_folders - named;
  if (more > 0) fmt::print(out, "    and {} more\n", more);
}

}  // namespace

void write_text(std::ostream& out, const DatasetInfo& info, const ReportStyle&) {
  fmt::print(out, "{}: {} images, {}{}\n", shown_text(info.path), info.images,
             show_bytes(info.bytes), info.interrupted ? " so far (interrupted)" : "");
  if (info.images > 0) write_contents(out, info);
  if (info.images > 0) write_classes(out, info);
  write_damaged(out, info);
  if (info.other_files > 0) line(out, "other files", std::to_string(info.other_files));
}

}  // namespace loaderscope::dataset
