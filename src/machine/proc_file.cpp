#include "machine/proc_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "base/fd.h"

namespace loaderscope {
namespace {

std::optional<std::int64_t> value_behind(std::string_view key, std::string_view line) {
  if (!line.starts_with(key)) return std::nullopt;
  line.remove_prefix(key.size());
  if (line.starts_with(':')) line.remove_prefix(1);
  return NumbersIn(line).next();
}

}  // namespace

std::string text_of(const std::string& path, std::size_t most) {
  const Fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  std::string text;
  if (file < 0) return text;
  std::array<char, 4096> part;
  for (ssize_t got = 0; text.size() < most && (got = ::read(file, part.data(), part.size())) > 0;)
    text.append(part.data(), static_cast<std::size_t>(got));
  return text;
}

void NumbersIn::skip_blanks() {
  text_.remove_prefix(std::min(text_.size(), text_.find_first_not_of(" \t\n")));
}

char NumbersIn::letter() {
  skip_blanks();
  if (text_.empty()) {
    has_failed_ = true;
    return '?';
  }
  const char first = text_.front();
  text_.remove_prefix(1);
  return first;
}

std::optional<std::int64_t> NumbersIn::next() {
  skip_blanks();
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text_.data(), text_.data() + text_.size(), value);
  if (error != std::errc()) {
    has_failed_ = true;
    return std::nullopt;
  }
  text_.remove_prefix(static_cast<std::size_t>(end - text_.data()));
  return value;
}

std::vector<std::optional<std::int64_t>> values_in(const std::string& path,
                                                   std::initializer_list<std::string_view> keys) {
  std::vector<std::optional<std::int64_t>> values(keys.size());
  std::size_t missing = values.size();
  const std::string text = text_of(path);
  for (std::string_view rest = text; missing > 0 && !rest.empty();) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(rest.size(), line.size() + 1));
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (values[i]) continue;
      values[i] = value_behind(keys.begin()[i], line);
      if (values[i]) --missing;
    }
  }
  return values;
}

std::optional<std::int64_t> value_in(const std::string& path, std::string_view key) {
  return values_in(path, {key}).front();
}

}  // namespace loaderscope
