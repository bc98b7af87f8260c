#include <fmt/format.h>

#include <algorithm>

#include "loaderscope/errors.h"
#include "report/kinds.h"
#include "report/screen.h"

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

void add_contents(TextTable& table, const DatasetInfo& info) {
  const auto n = static_cast<double>(info.images);
  const Histogram& stored = info.stored_bytes.histogram;
  table.add(
      {"stored", fmt::format("{}, {} each, {:.3f} bytes per pixel", show_bytes(info.bytes),
                             show_size(static_cast<double>(info.bytes) / n),
                             static_cast<double>(info.bytes) / static_cast<double>(info.pixels))});
  table.add(
      {"sizes", fmt::format("{} to {}; p10 {}, median {}, p90 {}, p99 {}",
                            show_bytes(info.stored_bytes.least), show_bytes(info.stored_bytes.most),
                            show_bytes(stored.quantile(0.1)), show_bytes(stored.quantile(0.5)),
                            show_bytes(stored.quantile(0.9)), show_bytes(stored.quantile(0.99)))});
  table.add({"width", fmt::format("{} to {}, median {}", info.widths.least, info.widths.most,
                                  info.widths.histogram.quantile(0.5))});
  table.add({"height", fmt::format("{} to {}, median {}", info.heights.least, info.heights.most,
                                   info.heights.histogram.quantile(0.5))});
  table.add({"format", shares(info.formats)});
  if (info.subsamplings.empty()) return;
  table.add({"subsampling", shares(info.subsamplings)});
  const auto jpeg = info.formats.find("jpeg");
  table.add({"progressive",
             fmt::format("{:.1f} % of the JPEG images", share_of(info.progressive, jpeg->second))});
}

void add_classes(TextTable& table, const DatasetInfo& info) {
  if (info.classes.empty()) {
    table.add({"classes", "none: no folders"});
    return;
  }
  std::int64_t least = info.classes.begin()->second, most = 0;
  for (const auto& [name, count] : info.classes) {
    least = std::min(least, count);
    most = std::max(most, count);
  }
  table.add({"classes", fmt::format("{}, of {} to {} images", info.classes.size(), least, most)});
}

void add_faults(TextTable& table, const DatasetInfo& info) {
  const char* how =
      info.checked ? "all decoded" : "headers and ends looked at; --check decodes all";
  table.add({"damaged", fmt::format("{} ({})", info.damaged, how)});
  if (info.unreadable_folders > 0)
    table.add({"unreadable", plural(info.unreadable_folders, "folder")});
  if (info.other_files > 0) table.add({"other files", std::to_string(info.other_files)});
}

void add_damaged(Screen& screen, const DatasetInfo& info) {
  for (const DamagedFile& file : info.first_damaged)
    screen.raw(Worth::detail,
               fmt::format("    {}: {}", shown_text(file.path), shown_text(file.cause)));
  const auto named = static_cast<std::int64_t>(info.first_damaged.size());
  const std::int64_t more = info.damaged + info.unreadable_folders - named;
  if (more > 0) screen.raw(Worth::detail, fmt::format("    and {} more damaged", more));
}

}  // namespace

void tell_info(Reading& reading, const DatasetInfo& info, const ReportStyle&) {
  Screen& screen = reading.body;
  screen.headline(
      fmt::format("{}: {} images, {}{}", shown_text(info.path), info.images, show_bytes(info.bytes),
                  info.interrupted ? " so far (interrupted)" : ""),
      Tone::plain);
  TextTable table("lw");
  if (info.images > 0) add_contents(table, info);
  if (info.images > 0) add_classes(table, info);
  add_faults(table, info);
  screen.table(Worth::evidence, table);
  add_damaged(screen, info);
}

}  // namespace loaderscope::dataset
