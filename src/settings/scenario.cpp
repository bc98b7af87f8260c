#include "settings/scenario.h"

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <map>
#include <optional>

#include "base/fd.h"
#include "base/old_words.h"
#include "base/printable.h"
#include "loaderscope/errors.h"

namespace loaderscope {
namespace {

constexpr std::size_t kMaxFile = std::size_t{1} << 20;
constexpr std::size_t kMaxLine = std::size_t{64} << 10;
constexpr const char* kGiveSettings = "give a file of 'key = value' lines";

KeyLine split_line(const std::string& place, std::string_view text) {
  const auto equals = text.find('=');
  const std::string_view key = trimmed(text.substr(0, equals));
  if (equals == text.npos || key.empty()) {
    throw UsageError(place + ": " + shown_text(text) + ": expected 'key = value'",
                     "write one key and its value in each line");
  }
  return {place, key, trimmed(text.substr(equals + 1))};
}

// Returns the promise with the present names of findings.
std::string current_promise(std::string_view text) {
  std::string promise;
  while (!text.empty()) {
    const std::string_view word = text.substr(0, text.find(' '));
    promise += current_word(WordKind::finding, word);
    text.remove_prefix(word.size());
    if (text.empty()) break;
    promise += ' ';
    text.remove_prefix(1);
  }
  return promise;
}

// Reads a comment of a scenario, and ignores all other comments.
void read_comment(std::string_view comment, Scenario& scenario) {
  constexpr std::string_view kExpect = "expect:";
  if (comment.starts_with(kExpect)) {
    scenario.expect.push_back(current_promise(trimmed(comment.substr(kExpect.size()))));
  }
}

// Sets every line in a configuration of its own, so that a line which a flag overrides is checked
// too.
void check_lines(const std::vector<KeyLine>& lines) {
  RunConfig scratch;
  std::map<const Field*, std::string> seen;
  for (const KeyLine& line : lines) {
    try {
      set_field(scratch, line.place, line.key, line.value);
    } catch (const UsageError& error) {
      if (line.value.find('#') == line.value.npos) throw;
      throw UsageError(std::string(error.sentence()), "give the comment a line of its own");
    }
    const Field* field = find_field(line.key);
    const auto [before, is_new] = seen.emplace(field, line.place);
    if (!is_new && !field->repeats) {
      throw UsageError(
          line.place + ": " + std::string(line.key) + ": already given at " + before->second,
          "leave one of them out");
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

// Returns true if a flag contradicts all values of `key`, so that the flag wins.
bool is_overruled(const RunConfig& flags, std::string_view key) {
  const bool inline_by_flag =
      (flags.loader.num_workers.given && flags.loader.num_workers == 0) ||
      (flags.loader.executor.given && flags.loader.executor == Executor::inline_);
  if (key == "memory") return flags.loader.pin_memory.given;
  if (key == "pin-memory") return flags.loader.memory.given;
  if (key == "steps") return flags.measure.duration.given;
  if (key == "duration") return flags.measure.steps.given;
  if (key == "prefetch-depth")
    return inline_by_flag || (flags.loader.task.given && flags.loader.task == TaskShape::batch);
  if (key == "prefetch-factor") return inline_by_flag || flags.loader.prefetch_depth.given;
  if (key == "num-workers" || key == "executor" || key == "task" || key == "persistent-workers" ||
      key == "mp-context") {
    return inline_by_flag;
  }
  return false;
}

// Takes the lines away whose keys are the command's own.
void take_others(std::vector<KeyLine>& lines, OtherKeys& others) {
  std::erase_if(lines, [&](const KeyLine& line) {
    const auto& names = others.names;
    if (std::find(names.begin(), names.end(), line.key) == names.end()) return false;
    others.found.emplace_back(line.key, line.value);
    return true;
  });
}

}  // namespace

std::vector<KeyLine> key_lines(std::string_view text, const std::string& path,
                               const std::function<void(std::string_view)>& take_comment) {
  if (text.size() > kMaxFile) throw UsageError(path + ": is larger than 1 MiB", kGiveSettings);
  std::vector<KeyLine> lines;
  if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);
  for (std::int64_t number = 1; !text.empty(); ++number) {
    const auto end = text.find('\n');
    const std::string_view line = trimmed(text.substr(0, end));
    text.remove_prefix(end == text.npos ? text.size() : end + 1);
    if (line.empty()) continue;
    const std::string place = path + ":" + std::to_string(number);
    if (line.size() > kMaxLine)
      throw UsageError(place + ": the line is longer than 64 KiB", kGiveSettings);
    if (line.find('\0') != line.npos) {
      throw UsageError(place + ": has a zero byte", kGiveSettings);
    }
    if (line.front() == '#') {
      take_comment(trimmed(line.substr(1)));
    } else {
      lines.push_back(split_line(place, line));
    }
  }
  return lines;
}

std::string read_key_file(const std::string& path) {
  if (const std::string_view other = non_file_kind(path); !other.empty())
    throw UsageError(path + ": is " + std::string(other), kGiveSettings);
  errno = 0;
  std::ifstream input(path, std::ios::binary);
  if (!input)
    throw UsageError(path + ": cannot be read (" + std::strerror(errno) + ")", kGiveSettings);
  std::string text(kMaxFile + 1, '\0');
  input.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (input.bad())
    throw UsageError(path + ": cannot be read (" + std::strerror(errno) + ")", kGiveSettings);
  text.resize(static_cast<std::size_t>(input.gcount()));
  if (text.size() > kMaxFile) {
    throw UsageError(path + ": is larger than 1 MiB", kGiveSettings);
  }
  return text;
}

bool flag_wins(const RunConfig& flags, const Field& field, std::string_view value) {
  if (field.name == "cost") return declares(flags.declared.cost, parse_cost(value).stage);
  if (field.name == "inject") return injects(flags.declared.inject, parse_injection(value).stage);
  const bool workers_by_flag = flags.loader.num_workers.given && flags.loader.num_workers > 0;
  if (field.name == "executor" && workers_by_flag && value == name_of(Executor::inline_))
    return true;
  return field.given(flags) || is_overruled(flags, field.name);
}

void merge_lines(std::vector<KeyLine> lines, RunConfig& config, OtherKeys& others) {
  take_others(lines, others);
  check_lines(lines);
  const RunConfig flags = config;
  for (const KeyLine& line : lines) {
    if (!flag_wins(flags, *find_field(line.key), line.value)) {
      set_field(config, line.place, line.key, line.value);
    }
  }
}

static Scenario parse(std::string_view text, const std::string& path, RunConfig& config,
                      OtherKeys& others) {
  Scenario scenario{path, {}};
  std::vector<KeyLine> lines =
      key_lines(text, path, [&](std::string_view comment) { read_comment(comment, scenario); });
  for (const KeyLine& line : lines) {
    if (line.key == "scenario")
      throw UsageError(line.place + ": a scenario file cannot name another one",
                       "copy its lines into this file");
  }
  merge_lines(std::move(lines), config, others);
  return scenario;
}

Scenario parse_scenario(std::string_view text, const std::string& path, RunConfig& config) {
  OtherKeys none;
  return parse(text, path, config, none);
}

Scenario read_scenario(const std::string& path, RunConfig& config) {
  return parse_scenario(read_key_file(path), path, config);
}

Scenario read_scenario(const std::string& path, RunConfig& config, OtherKeys& others) {
  return parse(read_key_file(path), path, config, others);
}

}  // namespace loaderscope
