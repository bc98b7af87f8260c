#include "settings/key_lines.h"

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <fstream>

#include "base/fd.h"
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
  std::ifstream in(path, std::ios::binary);
  if (!in)
    throw UsageError(path + ": cannot be read (" + std::strerror(errno) + ")", kGiveSettings);
  std::string text(kMaxFile + 1, '\0');
  in.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (in.bad())
    throw UsageError(path + ": cannot be read (" + std::strerror(errno) + ")", kGiveSettings);
  text.resize(static_cast<std::size_t>(in.gcount()));
  if (text.size() > kMaxFile) {
    throw UsageError(path + ": is larger than 1 MiB", kGiveSettings);
  }
  return text;
}

}  // namespace loaderscope
