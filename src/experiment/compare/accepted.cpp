#include "experiment/compare/accepted.h"

#include <algorithm>
#include <charconv>
#include <chrono>

#include "base/printable.h"
#include "experiment/compare/counts.h"
#include "experiment/compare/quantities.h"
#include "loaderscope/errors.h"
#include "loaderscope/units.h"
#include "settings/scenario.h"

namespace loaderscope::compare {
namespace {

constexpr double kMaxPercent = 1000;

// All that can be worse.
std::vector<std::string> known_names() {
  std::vector<std::string> names;
  for (const QuantityRow& row : quantity_table()) names.emplace_back(row.row.name);
  for (const Stage stage : compared_stages()) names.emplace_back(name_of(stage));
  for (const auto& word : Words<Cause>::table())
    names.push_back(std::string(kWaitFor) + std::string(word.name));
  for (const CountRow& row : count_table()) names.emplace_back(row.row.name);
  return names;
}

void check_name(const KeyLine& line) {
  const std::vector<std::string> known = known_names();
  const bool may_be_metric = line.key.find('.') != line.key.npos;
  if (may_be_metric || std::find(known.begin(), known.end(), line.key) != known.end()) return;
  throw UsageError(line.place + ": " + shown_text(line.key) +
                   ": is no stage, quantity or count of a comparison" +
                   suggestion(line.key, {known.begin(), known.end()}));
}

// Moves the text before `mark` from `text` to `part`. Returns false if `mark` is missing or the
// part is empty.
bool take_until(std::string_view& text, std::string_view mark, std::string& part) {
  const std::size_t at = text.find(mark);
  if (at == text.npos) return false;
  part = trimmed(text.substr(0, at));
  text = trimmed(text.substr(at + mark.size()));
  return !part.empty();
}

double parse_percent(std::string_view text) {
  if (!text.ends_with('%')) throw ValueError("expected a percentage");
  const double percent = parse_real(trimmed(text.substr(0, text.size() - 1)));
  if (!(percent > 0 && percent <= kMaxPercent)) throw ValueError("expected 0 to 1000 %");
  return percent / 100;
}

Accepted parse_line(const KeyLine& line) {
  Accepted accepted;
  accepted.name = line.key;
  std::string_view rest = line.value;
  std::string percent;
  const bool is_whole = take_until(rest, " until ", percent) &&
                        take_until(rest, " by ", accepted.until) &&
                        take_until(rest, ":", accepted.author) && !rest.empty();
  accepted.reason = rest;
  try {
    if (!is_whole || !is_date(accepted.until)) throw ValueError("");
    accepted.at_most = parse_percent(percent);
  } catch (const ValueError&) {
    throw UsageError(line.place + ": " + shown_text(line.value) +
                     ": expected how much, until when, by whom and why, such as '12% until "
                     "2026-12-31 by ana: the new crop is wanted'");
  }
  return accepted;
}

}  // namespace

bool is_date(std::string_view text) {
  if (text.size() != 10 || text[4] != '-' || text[7] != '-') return false;
  const auto number = [&](std::size_t at, std::size_t digits) {
    int value = -1;
    const char* end = text.data() + at + digits;
    const auto [next, error] = std::from_chars(text.data() + at, end, value);
    return error == std::errc() && next == end ? value : -1;
  };
  const int year = number(0, 4), month = number(5, 2), day = number(8, 2);
  if (year < 0 || month < 0 || day < 0) return false;
  return std::chrono::year_month_day(std::chrono::year(year),
                                     std::chrono::month(static_cast<unsigned>(month)),
                                     std::chrono::day(static_cast<unsigned>(day)))
      .ok();
}

std::vector<Accepted> parse_accepted(std::string_view text, const std::string& path) {
  std::vector<Accepted> all;
  for (const KeyLine& line : key_lines(text, path, [](std::string_view) {})) {
    check_name(line);
    const bool is_there = std::any_of(all.begin(), all.end(),
                                      [&](const Accepted& one) { return one.name == line.key; });
    if (is_there) throw UsageError(line.place + ": " + std::string(line.key) + ": already given");
    all.push_back(parse_line(line));
  }
  return all;
}

}  // namespace loaderscope::compare
