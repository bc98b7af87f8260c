// The default answers of data info: what a data set holds, and in what two differ.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "loaderscope/errors.h"
#include "report/answer/answers.h"
#include "report/answer/plain_figures.h"

namespace loaderscope::dataset {
namespace {

std::string plain_size(std::int64_t bytes) {
  return plain_figures(format_size(static_cast<double>(bytes)));
}

std::string upper_case(std::string text) {
  for (char& letter : text)
    letter = static_cast<char>(std::toupper(static_cast<unsigned char>(letter)));
  return text;
}

// "JPEG", "JPEG and PNG": the most frequent first.
std::string formats_in_words(const DatasetInfo& info) {
  std::vector<std::pair<std::int64_t, std::string>> ordered;
  for (const auto& [name, count] : info.formats) ordered.emplace_back(-count, upper_case(name));
  std::sort(ordered.begin(), ordered.end());
  if (ordered.empty()) return "";
  if (ordered.size() > 2) return ordered.front().second + " and other formats";
  return ordered.size() == 1 ? ordered[0].second : ordered[0].second + " and " + ordered[1].second;
}

// "photos: 2,000 images in JPEG, 220 MB"
std::string info_headline(const DatasetInfo& info) {
  const bool is_array = !info.layout.empty();
  const std::string formats = formats_in_words(info);
  std::string text =
      fmt::format("{}: {}{}, {}", info.path.empty() ? "The data" : shown_text(info.path),
                  is_array ? plural(info.samples, "sample") : plural(info.images, "image"),
                  formats.empty() || is_array ? "" : " in " + formats,
                  plain_size(info.objects > 0 ? info.stored : info.bytes));
  if (info.objects > 0)
    text += fmt::format(" in {} ({})", plural(info.objects, "file"), info.format);
  return info.interrupted ? text + ", so far" : text;
}

// "25 to 800 kB, median 110 kB"
std::string range_in_words(const Measure& measure) {
  if (measure.histogram.count() == 0) return "";
  return fmt::format("median {}, {} to {}", measure.histogram.quantile(0.5), measure.least,
                     measure.most);
}

std::string sizes_in_words(const Measure& measure) {
  if (measure.histogram.count() == 0) return "";
  return fmt::format("median {}, {} to {}", plain_size(measure.histogram.quantile(0.5)),
                     plain_size(measure.least), plain_size(measure.most));
}

std::string classes_in_words(const DatasetInfo& info) {
  if (info.classes.empty()) return "";
  const auto is_rarer = [](const auto& a, const auto& b) { return a.second < b.second; };
  const auto [least, most] =
      std::minmax_element(info.classes.begin(), info.classes.end(), is_rarer);
  return fmt::format("{}, of {} to {}", format_count(std::ssize(info.classes)),
                     format_count(least->second), plural(most->second, "image"));
}

std::string shuffle_in_words(const ShuffleQuality& shuffle) {
  if (shuffle.distance <= shuffle.chance_limit) return "as good as a full one";
  return fmt::format("neighbours come {:.0f} samples apart, in a full one {:.0f}", shuffle.apart,
                     shuffle.uniform_apart);
}

TextTable info_table(const DatasetInfo& info) {
  TextTable table("lw");
  const auto add_known = [&](const char* name, const std::string& text) {
    if (!text.empty()) table.add({name, text});
  };
  if (info.images > 0) {
    add_known("bytes", sizes_in_words(info.stored_bytes));
    add_known("width", range_in_words(info.widths));
    add_known("height", range_in_words(info.heights));
    add_known("classes", classes_in_words(info));
  }
  add_known("a sample", info.layout);
  if (info.objects > 0) add_known("files", sizes_in_words(info.object_bytes));
  if (info.shuffle) add_known("shuffle", shuffle_in_words(*info.shuffle));
  return table;
}

void add_damaged_files(Answer& answer, const DatasetInfo& info) {
  const std::int64_t count = info.damaged + info.unreadable_folders;
  if (count == 0 && info.first_damaged.empty()) return;
  answer.tone = LineTone::bad;
  const std::int64_t said = std::max(count, std::ssize(info.first_damaged));
  std::string text = plural(said, "file") + (said == 1 ? " is" : " are") + " damaged";
  if (!info.first_damaged.empty())
    text += fmt::format(": {} ({})", shown_text(info.first_damaged.front().path),
                        shown_text(info.first_damaged.front().cause));
  answer.first.push_back({"Wrong data", text});
  answer.first.push_back(
      {"Fix", said == 1 ? "copy it again, or remove it" : "copy them again, or remove them"});
}

// "They differ in width: median 500 and median 640"
std::string drift_headline(const Drift& drift) {
  const Difference* first = nullptr;
  std::int64_t more = 0;
  for (const Difference& one : drift.differences) {
    if (!one.is_real()) continue;
    if (first == nullptr)
      first = &one;
    else
      ++more;
  }
  if (first != nullptr)
    return fmt::format("A and B differ in {}{}: {} in A, {} in B", first->what,
                       more > 0 ? fmt::format(" and {} more", more) : "", first->a, first->b);
  return drift.differences.empty() ? "Nothing of A and B can be compared"
                                   : "A and B do not differ beyond chance";
}

TextTable drift_table(const Drift& drift) {
  constexpr std::size_t kMaxDrifts = 3;
  TextTable table("lrrrl", {"", "A", "B", "differ", ""});
  const auto samples = [](const DatasetInfo& info) {
    return format_count(info.images + info.samples);
  };
  table.add({"samples", samples(drift.a), samples(drift.b), "", ""});
  for (std::size_t i = 0; i < std::min(drift.differences.size(), kMaxDrifts); ++i) {
    const Difference& one = drift.differences[i];
    table.add({one.what, one.a, one.b, whole_percent(one.share),
               one.is_real() || one.share == 0 ? "" : "within chance"});
  }
  return table;
}

}  // namespace

Answer answer_info(const DatasetInfo& info) {
  Answer answer;
  answer.headline = info_headline(info);
  add_damaged_files(answer, info);
  answer.table = info_table(info);
  answer.last.push_back(
      {"More", info.checked ? "-v, --html page.html" : "-v, --html page.html    Test: --check"});
  return answer;
}

Answer answer_drift(const Drift& drift) {
  Answer answer;
  answer.headline = drift_headline(drift);
  if (drift.a.path != drift.b.path)
    answer.first.push_back({"Why", fmt::format("A is {}, B is {}", shown_text(drift.a.path),
                                               shown_text(drift.b.path))});
  answer.table = drift_table(drift);
  answer.last.push_back({"More", "-v, --html page.html"});
  return answer;
}

}  // namespace loaderscope::dataset
