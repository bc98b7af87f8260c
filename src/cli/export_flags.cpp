#include "cli/export_flags.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>

#include "base/printable.h"
#include "job/version_text.h"
#include "loaderscope/errors.h"

namespace loaderscope {
namespace {

template <class T>
T flag_value(const CommandFlag& flag, const std::string& text, T (*parse)(std::string_view)) {
  try {
    return parse(text);
  } catch (const ValueError& error) {
    throw add_place<UsageError>(fmt::format("--{} {}: ", flag.name, shown_text(text)), error);
  }
}

void say_line(const std::string& sentence) {
  const std::string line =
      fmt::format("{}loaderscope: {}\n", line_start(STDERR_FILENO), printable(sentence));
  std::fputs(line.c_str(), stderr);
}

}  // namespace

monitor::ExportOptions export_options(const ExportFlags& flags) {
  monitor::ExportOptions options;
  if (!flags.metrics.empty())
    options.listen = flag_value(kMetricsFlag, flags.metrics, monitor::parse_listen_address);
  if (!flags.otlp.empty())
    options.collector = flag_value(kOtlpFlag, flags.otlp, monitor::parse_collector_url);
  if (!flags.interval.empty()) {
    if (!options.collector) throw UsageError("--otlp-interval needs --otlp", "give --otlp URL");
    options.interval = flag_value(kOtlpIntervalFlag, flags.interval, parse_duration);
    if (options.interval < kSecond)
      throw UsageError("--otlp-interval " + shown_text(flags.interval) + ": expected 1s or more",
                       "give --otlp-interval 1s");
  }
  options.host = monitor::machine_label();
  options.version = version_number();
  options.say = say_line;
  return options;
}

monitor::ExportOptions export_options(const CommandFlags& flags) {
  return export_options(ExportFlags{flags.text(kMetricsFlag.name), flags.text(kOtlpFlag.name),
                                    flags.text(kOtlpIntervalFlag.name)});
}

}  // namespace loaderscope
