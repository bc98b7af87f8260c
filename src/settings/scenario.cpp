// Scenario files: "key = rest of line", one setting per line, in the words of the flags.
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <map>
#include <optional>

#include "base/file_kind.h"
#include "base/printable.h"
#include "loaderscope/errors.h"
#include "loaderscope/settings.h"
#include "settings/scenario.h"

namespace loaderscope {
namespace {

constexpr std::size_t kLargestFile = std::size_t{1} << 20;
constexpr std::size_t kLongestLine = std::size_t{64} << 10;

struct Line {
  std::string place;  // "x.conf:3"
  std::string_view key, value;
};

Line split_line(const std::string& place, std::string_view text) {
  const auto equals = text.find('=');
  const std::string_view key = trimmed(text.substr(0, equals));
  if (equals == text.npos || key.empty()) {
    throw UsageError(place + ": " + shown_text(text) + ": expected 'key = value'");
  }
  if (key == "scenario") {
    throw UsageError(place + ": scenario: a scenario file cannot name another one");
  }
  return {place, key, trimmed(text.substr(equals + 1))};
}

// Reads comments; others are no concern of ours.
void read_comment(std::string_view text, Scenario& scenario) {
  const std::string_view comment = trimmed(text.substr(1));
  constexpr std::string_view kExpect = "expect:";
  if (comment.starts_with(kExpect)) {
    scenario.expect.emplace_back(trimmed(comment.substr(kExpect.size())));
  }
}

std::vector<Line> split_lines(std::string_view text, Scenario& scenario) {
  std::vector<Line> lines;
  if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);
  for (std::int64_t number = 1; !text.empty(); ++number) {
    const auto end = text.find('\n');
    const std::string_view line = trimmed(text.substr(0, end));
    text.remove_prefix(end == text.npos ? text.size() : end + 1);
    if (line.empty()) continue;
    const std::string place = scenario.path + ":" + std::to_string(number);
    if (line.size() > kLongestLine) throw UsageError(place + ": the line is longer than 64 KiB");
    if (line.find('\0') != line.npos) {
      throw UsageError(place + ": a zero byte; this is not a scenario file");
    }
    if (line.front() == '#') {
      read_comment(line, scenario);
    } else {
      lines.push_back(split_line(place, line));
    }
  }
  return lines;
}

// Sets every line in a configuration of its own, so that a line which a flag overrides is checked
// too.
void check_lines(const std::vector<Line>& lines) {
  RunConfig scratch;
  std::map<const Field*, std::string> seen;
  for (const Line& line : lines) {
    try {
      set_field(scratch, line.place, line.key, line.value);
    } catch (const UsageError& error) {
      if (line.value.find('#') == line.value.npos) throw;
      throw UsageError(std::string(error.what()) + " (a comment needs a line of its own)");
    }
    const Field* field = find_field(line.key);
    const auto [before, is_new] = seen.emplace(field, line.place);
    if (!is_new && !field->repeats) {
      throw UsageError(line.place + ": " + std::string(line.key) + ": already given at " +
                       before->second);
    }
  }
}

bool declares(const std::vector<Cost>& costs, Stage stage) {
  for (const Cost& cost : costs) {
    if (cost.stage == stage) return true;
  }
  return false;
}

bool injects(const std::vector<Injection>& injections, Stage stage) {
  for (const Injection& injection : injections) {
    if (injection.stage == stage) return true;
  }
  return false;
}

// Whether a flag says the contrary of what `key` could say, so that the flag wins over it.
bool is_overruled(const RunConfig& flags, std::string_view key) {
  const bool inline_by_flag =
      (flags.loader.num_workers.given && flags.loader.num_workers == 0) ||
      (flags.loader.executor.given && flags.loader.executor == Executor::inline_);
  if (key == "memory") return flags.loader.pin_memory.given;
  if (key == "pin-memory") return flags.loader.memory.given;
  if (key == "steps") return flags.measure.duration.given;
  if (key == "duration") return flags.measure.steps.given;
  if (key == "window")
    return inline_by_flag || (flags.loader.task.given && flags.loader.task == TaskShape::batch);
  if (key == "prefetch-factor") return inline_by_flag || flags.loader.window.given;
  if (key == "num-workers" || key == "executor" || key == "task" || key == "persistent-workers" ||
      key == "mp-context") {
    return inline_by_flag;
  }
  return false;
}

// Takes the lines away whose keys are the command's own.
void take_others(std::vector<Line>& lines, OtherKeys& others) {
  std::erase_if(lines, [&](const Line& line) {
    const auto& names = others.names;
    if (std::find(names.begin(), names.end(), line.key) == names.end()) return false;
    others.found.emplace_back(line.key, line.value);
    return true;
  });
}

std::string read_text(const std::string& path) {
  if (const std::string_view other = kind_unless_file(path); !other.empty())
    throw UsageError(path + ": is " + std::string(other) + "; expected a scenario file");
  errno = 0;
  std::ifstream in(path, std::ios::binary);
  if (!in) throw UsageError(path + ": cannot read the scenario: " + std::strerror(errno));
  std::string text(kLargestFile + 1, '\0');
  in.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (in.bad()) throw UsageError(path + ": cannot read the scenario: " + std::strerror(errno));
  text.resize(static_cast<std::size_t>(in.gcount()));
  if (text.size() > kLargestFile) {
    throw UsageError(path + ": is larger than 1 MiB; this is not a scenario file");
  }
  return text;
}

}  // namespace

bool flag_wins(const RunConfig& flags, const Field& field, std::string_view value) {
  if (field.name == "cost") return declares(flags.declared.cost, parse_cost(value).stage);
  if (field.name == "inject") return injects(flags.declared.inject, parse_injection(value).stage);
  const bool workers_by_flag = flags.loader.num_workers.given && flags.loader.num_workers > 0;
  if (field.name == "executor" && workers_by_flag && value == name_of(Executor::inline_))
    return true;
  return field.given(flags) || is_overruled(flags, field.name);
}

static Scenario parse(std::string_view text, const std::string& path, RunConfig& config,
                      OtherKeys& others) {
  Scenario scenario{path, {}};
  if (text.size() > kLargestFile) throw UsageError(path + ": is larger than 1 MiB");
  std::vector<Line> lines = split_lines(text, scenario);
  take_others(lines, others);
  check_lines(lines);
  const RunConfig flags = config;
  for (const Line& line : lines) {
    if (!flag_wins(flags, *find_field(line.key), line.value)) {
      set_field(config, line.place, line.key, line.value);
    }
  }
  return scenario;
}

Scenario parse_scenario(std::string_view text, const std::string& path, RunConfig& config) {
  OtherKeys none;
  return parse(text, path, config, none);
}

Scenario read_scenario(const std::string& path, RunConfig& config) {
  return parse_scenario(read_text(path), path, config);
}

Scenario read_scenario(const std::string& path, RunConfig& config, OtherKeys& others) {
  return parse(read_text(path), path, config, others);
}

}  // namespace loaderscope
