#include "rendezvous/hello_message.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <set>

#include "loaderscope/errors.h"

namespace loaderscope {
namespace {

std::string next_line(std::string_view& text) {
  const std::size_t end = std::min(text.find('\n'), text.size());
  std::string line(text.substr(0, end));
  text.remove_prefix(std::min(end + 1, text.size()));
  return line;
}

std::int64_t number_in_line(std::string_view& text) {
  const std::string line = next_line(text);
  std::int64_t number = -1;
  std::from_chars(line.data(), line.data() + line.size(), number);
  return number;
}

// Reads a CPU quota; 0 if the line has none.
double quota_in_line(std::string_view& text) {
  const std::string line = next_line(text);
  double quota = 0;
  std::from_chars(line.data(), line.data() + line.size(), quota);
  return std::isfinite(quota) ? quota : 0;
}

// Returns the first setting that the other side lacks, as "'NAME = VALUE'".
std::string first_own(std::string_view one, std::string_view other) {
  std::set<std::string> others;
  while (!other.empty()) others.insert(next_line(other));
  while (!one.empty()) {
    const std::string line = next_line(one);
    if (!others.contains(line)) return "'" + shown_text(line) + "'";
  }
  return "no such setting";
}

}  // namespace

std::string spelled(const HelloMessage& of) {
  return fmt::format("{}\n{}\n{}\n{}\n{}\n{}\n{}\n{}", of.version, of.ranks, of.host, of.boot,
                     of.cpus.list, of.cpus.quota, of.cpus.group, of.settings);
}

HelloMessage parse_introduction(std::string_view text) {
  HelloMessage of;
  of.version = next_line(text);
  of.ranks = number_in_line(text);
  of.host = next_line(text);
  of.boot = next_line(text);
  of.cpus.list = next_line(text);
  of.cpus.quota = quota_in_line(text);
  of.cpus.group = next_line(text);
  of.settings = text;
  return of;
}

std::string difference_of(const std::string& who, const HelloMessage& of,
                          const HelloMessage& first) {
  if (of.version != first.version)
    return fmt::format("rendezvous: {} is loaderscope {}, and process 0 is {}; install one version",
                       who, shown_text(of.version), first.version);
  if (of.settings != first.settings)
    return fmt::format(
        "rendezvous: {} has {}, and process 0 has {}; start all with the same settings", who,
        first_own(of.settings, first.settings), first_own(first.settings, of.settings));
  return "";
}

}  // namespace loaderscope
