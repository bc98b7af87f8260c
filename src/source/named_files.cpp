#include "source/named_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "loaderscope/errors.h"
#include "source/store.h"
#include "source/walk.h"

namespace loaderscope::source {
namespace {

constexpr std::size_t kMaxFiles = std::size_t{1} << 20;  // files of one pattern

// "000..127", with the leading zeros of its first number; nothing for another text.
std::optional<std::vector<std::string>> expand_numbers(std::string_view range) {
  const auto dots = range.find("..");
  if (dots == range.npos) return std::nullopt;
  const std::string_view first = range.substr(0, dots), last = range.substr(dots + 2);
  std::int64_t low = 0, high = 0;
  try {
    low = parse_count(first);
    high = parse_count(last);
  } catch (const ValueError&) {
    return std::nullopt;
  }
  if (high < low || static_cast<std::size_t>(high - low) >= kMaxFiles) return std::nullopt;
  std::vector<std::string> numbers;
  for (std::int64_t i = low; i <= high; ++i)
    numbers.push_back(fmt::format("{:0{}}", i, first.starts_with('0') ? first.size() : 1));
  return numbers;
}

std::vector<std::string> split_words(std::string_view list) {
  std::vector<std::string> words;
  for (;;) {
    const auto comma = list.find(',');
    words.emplace_back(list.substr(0, comma));
    if (comma == list.npos) return words;
    list.remove_prefix(comma + 1);
  }
}

// Expands the first pair of braces that has a meaning.
std::vector<std::string> expanded(const std::string& pattern) {
  const auto open = pattern.find('{');
  const auto close = pattern.find('}', open);
  if (open == pattern.npos || close == pattern.npos) return {pattern};
  const std::string_view inner = std::string_view(pattern).substr(open + 1, close - open - 1);
  std::vector<std::string> choices = expand_numbers(inner).value_or(split_words(inner));
  if (choices.size() == 1 && choices.front() == inner) return {pattern};
  std::vector<std::string> all;
  for (const std::string& rest : expanded(pattern.substr(close + 1))) {
    for (const std::string& choice : choices) {
      all.push_back(pattern.substr(0, open) + choice + rest);
      if (all.size() > kMaxFiles) throw RunError(shown_text(pattern) + ": names too many files");
    }
  }
  std::sort(all.begin(), all.end());
  return all;
}

[[noreturn]] void fail(const std::string& path, const std::string& why) {
  throw RunError((path.empty() ? "''" : shown_text(path)) + ": " + why,
                 "check the path given with --data");
}

using Suffixes = std::span<const std::string_view>;

bool is_one_of(Suffixes suffixes, std::string_view name) {
  return std::any_of(suffixes.begin(), suffixes.end(),
                     [&](std::string_view suffix) { return name.ends_with(suffix); });
}

std::vector<std::string> files_below(const std::string& folder, Suffixes suffixes) {
  const FolderListing listing = find_store(folder).list(folder);
  std::vector<std::string> files;
  for (std::size_t i = 0; i < listing.others.size(); ++i) {
    if (is_one_of(suffixes, listing.others[i]))
      files.push_back(join_path(folder, listing.others[i]));
  }
  if (files.empty())
    fail(folder, fmt::format("holds no files named *{}", fmt::join(suffixes, ", *")));
  std::sort(files.begin(), files.end());
  return files;
}

void add(const std::string& path, Suffixes suffixes, std::vector<std::string>& to) {
  const PathFacts facts = find_store(path).look_at(path);
  if (facts.kind == PathFacts::Kind::nothing) fail(path, "cannot be opened: " + facts.why_nothing);
  if (facts.kind == PathFacts::Kind::object) return to.push_back(path);
  if (facts.kind == PathFacts::Kind::other) fail(path, "is neither a file nor a folder");
  for (std::string& file : files_below(path, suffixes)) to.push_back(std::move(file));
}

}  // namespace

std::vector<std::string> named_files(const std::vector<std::string>& paths, Suffixes suffixes) {
  std::vector<std::string> files;
  for (const std::string& path : paths) {
    // A file with such a name is taken literally.
    const bool is_there = path.find('{') == path.npos ||
                          find_store(path).look_at(path).kind != PathFacts::Kind::nothing;
    for (const std::string& one : is_there ? std::vector{path} : expanded(path))
      add(one, suffixes, files);
  }
  return files;
}

std::string text_parameter(const FormatParameters& words, std::string_view name) {
  const auto word = words.find(name);
  return word == words.end() ? "" : word->second;
}

std::int64_t count_parameter(const FormatParameters& words, std::string_view name,
                             std::int64_t otherwise, std::int64_t least) {
  const auto found = words.find(name);
  if (found == words.end()) return otherwise;
  try {
    const std::int64_t value = parse_count(found->second);
    if (value >= least) return value;
  } catch (const ValueError&) {
  }
  throw UsageError(fmt::format("?{}={}: expected a whole number, {} or more", name,
                               shown_text(found->second), least),
                   fmt::format("give ?{}={}", name, otherwise < least ? least : otherwise));
}

}  // namespace loaderscope::source
