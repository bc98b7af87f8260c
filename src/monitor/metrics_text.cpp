#include "monitor/metrics_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <vector>

#include "base/printable.h"

namespace loaderscope::monitor {
namespace {

// Prometheus text has no infos and no state sets.
std::string_view type_word(LiveType type, TextFormat format) {
  const bool is_known = format == TextFormat::open_metrics || type == LiveType::counter;
  return name_of(is_known ? type : LiveType::gauge);
}

std::string escaped(std::string_view text) {
  std::string result;
  for (const char letter : text) {
    if (letter == '\n') {
      result += "\\n";
      continue;
    }
    if (letter == '"' || letter == '\\') result += '\\';
    result += letter;
  }
  return result;
}

void add_header(std::string& text, const LiveMetricRow& row, TextFormat format) {
  const bool is_open = format == TextFormat::open_metrics;
  const std::string name = is_open ? family_name(row) : sample_name(row);
  text += fmt::format("# TYPE {} {}\n", name, type_word(row.type, format));
  if (is_open && row.unit != LiveUnit::none)
    text += fmt::format("# UNIT {} {}\n", name, name_of(row.unit));
  text += fmt::format("# HELP {} {}\n", name, row.sentence);
}

void add_sample(std::string& text, const LiveMetricRow& row, const LiveSample& sample) {
  text += sample_name(row);
  for (std::size_t i = 0; i < sample.labels.size(); ++i)
    text += fmt::format("{}{}=\"{}\"", i == 0 ? '{' : ',', sample.labels[i].first,
                        escaped(sample.labels[i].second));
  text += fmt::format("{} {}\n", sample.labels.empty() ? "" : "}", sample.value);
}

// The weight of `q=` among the parameters of a media type. Text that is no number counts as 0.
double read_weight(std::span<const std::string_view> parameters) {
  for (std::string_view parameter : parameters) {
    parameter = trimmed(parameter);
    if (!parameter.starts_with("q=")) continue;
    double weight = 0;
    std::from_chars(parameter.data() + 2, parameter.data() + parameter.size(), weight);
    return weight;
  }
  return 1;
}

}  // namespace

TextFormat preferred_format(std::string_view accept) {
  double open = 0, plain = 0;
  for (const std::string_view range : split(accept, ',')) {
    const std::vector<std::string_view> parts = split(range, ';');
    const std::string_view type = trimmed(parts.front());
    const double weight = read_weight(std::span(parts).subspan(1));
    if (type == "application/openmetrics-text") open = std::max(open, weight);
    if (type == "text/plain") plain = std::max(plain, weight);
  }
  return open > 0 && open >= plain ? TextFormat::open_metrics : TextFormat::prometheus;
}

std::string_view content_type(TextFormat format) {
  return format == TextFormat::open_metrics
             ? "application/openmetrics-text;version=1.0.0;charset=utf-8"
             : "text/plain;version=0.0.4;charset=utf-8";
}

std::string metrics_text(std::span<const LiveSample> samples, TextFormat format) {
  std::string text;
  for (std::size_t i = 0; i < samples.size(); ++i) {
    const LiveMetricRow& row = live_metric_table()[static_cast<std::size_t>(samples[i].metric)];
    if (i == 0 || samples[i - 1].metric != samples[i].metric) add_header(text, row, format);
    add_sample(text, row, samples[i]);
  }
  if (format == TextFormat::open_metrics) text += "# EOF\n";
  return text;
}

}  // namespace loaderscope::monitor
