#include <fmt/format.h>

#include <algorithm>

#include "loaderscope/errors.h"
#include "report/kinds.h"
#include "report/text_report.h"

namespace loaderscope::dataset {
namespace {

using Counts = std::map<std::string, std::int64_t, std::less<>>;

std::string format_bytes(std::int64_t bytes) { return format_size(static_cast<double>(bytes)); }

double percentage(std::int64_t part, std::int64_t whole) {
  return whole == 0 ? 0 : 100 * static_cast<double>(part) / static_cast<double>(whole);
}

std::int64_t total(const Counts& counts) {
  std::int64_t sum = 0;
  for (const auto& [name, count] : counts) sum += count;
  return sum;
}

// "420 (90.0 %), 444 (10.0 %)" of `whole`: the most frequent first.
std::string shares(const Counts& counts, std::int64_t whole) {
  std::vector<std::pair<std::int64_t, std::string>> ordered;
  for (const auto& [name, count] : counts) ordered.emplace_back(-count, name);
  std::sort(ordered.begin(), ordered.end());
  std::string text;
  for (const auto& [count, name] : ordered) {
    if (!text.empty()) text += ", ";
    text += fmt::format("{} ({:.1f} %)", name, percentage(-count, whole));
  }
  return text;
}

void add_contents(TextTable& table, const DatasetInfo& info) {
  const auto n = static_cast<double>(info.images);
  const Histogram& stored = info.stored_bytes.histogram;
  table.add(
      {"stored", fmt::format("{}, {} each, {:.3f} bytes per pixel", format_bytes(info.bytes),
                             format_size(static_cast<double>(info.bytes) / n),
                             static_cast<double>(info.bytes) / static_cast<double>(info.pixels))});
  table.add(
      {"sizes",
       fmt::format("{} to {}; p10 {}, median {}, p90 {}, p99 {}",
                   format_bytes(info.stored_bytes.least), format_bytes(info.stored_bytes.most),
                   format_bytes(stored.quantile(0.1)), format_bytes(stored.quantile(0.5)),
                   format_bytes(stored.quantile(0.9)), format_bytes(stored.quantile(0.99)))});
  table.add({"width", fmt::format("{} to {}, median {}", info.widths.least, info.widths.most,
                                  info.widths.histogram.quantile(0.5))});
  table.add({"height", fmt::format("{} to {}, median {}", info.heights.least, info.heights.most,
                                   info.heights.histogram.quantile(0.5))});
  table.add({"format", shares(info.formats, total(info.formats))});
  if (info.subsamplings.empty()) return;
  table.add({"subsampling", shares(info.subsamplings, total(info.subsamplings))});
  const auto jpeg = info.formats.find("jpeg");
  if (jpeg == info.formats.end()) return;
  table.add({"progressive", fmt::format("{:.1f} % of the JPEG images",
                                        percentage(info.progressive, jpeg->second))});
  const std::int64_t refused = total(info.engine_refusals);
  std::string text = fmt::format("{:.1f} % by the JPEG engines of NVIDIA",
                                 percentage(info.images - refused, info.images));
  if (refused > 0) text += ", not: " + shares(info.engine_refusals, info.images);
  table.add({"GPU decodes", text});
}

void add_shape(TextTable& table, const DatasetInfo& info) {
  table.add(
      {"aspect", fmt::format("{:.2f} to {:.2f}, median {:.2f}",
                             static_cast<double>(info.aspects.least) / 1000,
                             static_cast<double>(info.aspects.most) / 1000,
                             static_cast<double>(info.aspects.histogram.quantile(0.5)) / 1000)});
  if (info.qualities.histogram.count() > 0)
    table.add(
        {"quality", fmt::format("{} to {}, median {}", info.qualities.least, info.qualities.most,
                                info.qualities.histogram.quantile(0.5))});
}

// Adds the place of the samples.
void add_place(TextTable& table, const DatasetInfo& info) {
  if (!info.layout.empty()) table.add({"a sample", info.layout});
  if (info.objects > 0)
    table.add({"files",
               fmt::format("{}, {} to {} each", info.objects, format_bytes(info.object_bytes.least),
                           format_bytes(info.object_bytes.most))});
  table.add(
      {"index", format_duration(info.index) + (info.objects > 0 ? " without a kept one" : "")});
}

void add_classes(TextTable& table, const DatasetInfo& info) {
  if (info.classes.empty() && info.objects > 0) return;
  if (info.classes.empty()) {
    table.add({"classes", "none (no folders)"});
    return;
  }
  std::int64_t least = info.classes.begin()->second, most = 0;
  for (const auto& [name, count] : info.classes) {
    least = std::min(least, count);
    most = std::max(most, count);
  }
  table.add({"classes", fmt::format("{}, of {} to {} images", info.classes.size(), least, most)});
}

// "; a rank sees 0.31 from uniform"
std::string mixing_words(std::string_view who, const std::optional<dataset::OrderMixing>& mixing) {
  if (!mixing) return "";
  return fmt::format("; {} {:.2f} from uniform{}", who, mixing->distance,
                     mixing->distance <= mixing->chance_limit ? " (within chance)" : "");
}

void add_shuffle(TextTable& table, const DatasetInfo& info) {
  if (!info.shuffle) return;
  const ShuffleQuality& shuffle = *info.shuffle;
  const bool is_uniform = shuffle.distance <= shuffle.chance_limit;
  table.add(
      {"shuffle",
       fmt::format("{} from uniform{}: stored neighbours come {:.0f} samples apart in a stream, "
                   "uniformly {:.0f} ({}, {} each)",
                   fmt::format("{:.2f}", shuffle.distance), is_uniform ? " (within chance)" : "",
                   shuffle.apart, shuffle.uniform_apart, plural(shuffle.streams, "stream"),
                   format_bytes(shuffle.memory)) +
           mixing_words("a rank sees", shuffle.rank) +
           mixing_words("an epoch, by the one before,", shuffle.epochs)});
}

void add_faults(TextTable& table, const DatasetInfo& info) {
  const char* how =
      info.checked ? "all decoded" : "headers and ends looked at; --check decodes all";
  table.add({"damaged", fmt::format("{} ({})", info.damaged, how)});
  if (info.unreadable_folders > 0)
    table.add({"unreadable", plural(info.unreadable_folders, "folder")});
  if (info.other_files > 0) table.add({"other files", std::to_string(info.other_files)});
}

void add_damaged(TextReportBuilder& screen, const DatasetInfo& info) {
  for (const DamagedFile& file : info.first_damaged)
    screen.raw(LinePriority::detail,
               fmt::format("    {}: {}", shown_text(file.path), shown_text(file.cause)));
  const auto named = static_cast<std::int64_t>(info.first_damaged.size());
  const std::int64_t more = info.damaged + info.unreadable_folders - named;
  if (more > 0) screen.raw(LinePriority::detail, fmt::format("    and {} more damaged", more));
}

Bytes data_bytes(const DatasetInfo& info) { return info.objects > 0 ? info.stored : info.bytes; }

// "photos: 1,000 images, 72 MB, in 4 files (tar)"
std::string info_headline(const DatasetInfo& info) {
  const bool is_array = !info.layout.empty();
  std::string text =
      fmt::format("{}: {} {}, {}", shown_text(info.path), is_array ? info.samples : info.images,
                  is_array ? "samples" : "images", format_bytes(data_bytes(info)));
  if (info.objects > 0)
    text += fmt::format(" in {} ({})", plural(info.objects, "file"), info.format);
  return info.interrupted ? text + " so far (interrupted)" : text;
}

std::string drift_headline(const Drift& drift) {
  std::string text;
  std::size_t mentioned = 0;
  for (const Difference& one : drift.differences) {
    if (!one.is_real() || mentioned++ >= 3) continue;
    text += fmt::format("{}{} ({} against {}, {:.0f} %)", text.empty() ? "They differ in " : ", ",
                        one.what, one.a, one.b, 100 * one.share);
  }
  if (mentioned > 3) text += fmt::format(" and {} more", mentioned - 3);
  if (!text.empty()) return text;
  return drift.differences.empty() ? "Nothing of them can be compared"
                                   : "No difference beyond chance";
}

}  // namespace

void write_info_text(TextReport& reading, const DatasetInfo& info, const ReportStyle&) {
  TextReportBuilder& screen = reading.body;
  screen.headline(info_headline(info), LineTone::plain);
  TextTable table("lw");
  if (info.images > 0) add_contents(table, info);
  if (info.images > 0) add_shape(table, info);
  if (info.images > 0) add_classes(table, info);
  add_place(table, info);
  add_shuffle(table, info);
  add_faults(table, info);
  screen.table(LinePriority::evidence, table);
  add_damaged(screen, info);
  for (const std::string& note : info.notes) screen.note(LinePriority::detail, note);
}

void write_drift_text(TextReport& reading, const Drift& drift, const ReportStyle&) {
  TextReportBuilder& screen = reading.body;
  screen.wrapped_headline(drift_headline(drift), LineTone::plain);
  TextTable table("lrrrl", {"", "A", "B", "differ", ""});
  table.add({"stored as", drift.a.format, drift.b.format, "", ""});
  table.add({"samples", std::to_string(drift.a.images + drift.a.samples),
             std::to_string(drift.b.images + drift.b.samples), "", ""});
  table.add(
      {"bytes", format_bytes(data_bytes(drift.a)), format_bytes(data_bytes(drift.b)), "", ""});
  for (const Difference& one : drift.differences)
    table.add({one.what, one.a, one.b, fmt::format("{:.1f} %", 100 * one.share),
               one.is_real() || one.share == 0 ? "" : "within chance"});
  screen.table(LinePriority::evidence, table);
  screen.line(LinePriority::basis, "A: " + info_headline(drift.a));
  screen.line(LinePriority::basis, "B: " + info_headline(drift.b));
  screen.line(LinePriority::detail,
              "The column differ has the smallest share of samples that would have to change");
}

}  // namespace loaderscope::dataset
