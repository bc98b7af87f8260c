#include "report/json_stream.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <nlohmann/json.hpp>

#include "base/secret.h"

namespace loaderscope {
namespace {

constexpr std::size_t kFlushAt = 1 << 16;

bool is_plain(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return byte >= 0x20 && byte < 0x7f && c != '"' && c != '\\';
}

template <class Integer>
void append_integer(fmt::memory_buffer& out, Integer value) {
  const fmt::format_int digits(value);
  out.append(digits.data(), digits.data() + digits.size());
}

// Through integers: a double would not keep nine decimals.
void append_seconds(fmt::memory_buffer& out, Nanos ns) {
  const auto bits = static_cast<std::uint64_t>(ns);
  const std::uint64_t size = ns < 0 ? ~bits + 1 : bits;
  constexpr std::uint64_t kPerSecond = 1'000'000'000;
  if (ns < 0) out.push_back('-');
  append_integer(out, size / kPerSecond);
  const std::size_t point = out.size();
  append_integer(out, kPerSecond + size % kPerSecond);  // a leading 1, whose place the point takes
  out[point] = '.';
}

}  // namespace

std::string seconds_text(Nanos ns) {
  fmt::memory_buffer text;
  append_seconds(text, ns);
  return fmt::to_string(text);
}

void JsonStream::member(std::string_view key, std::int64_t value) {
  start(key);
  append_integer(buffer_, value);
}

void JsonStream::member(std::string_view key, double value) {
  if (!std::isfinite(value)) return null(key);
  start(key);
  fmt::format_to(std::back_inserter(buffer_), "{}", value + 0.0);  // -0 becomes 0
}

void JsonStream::member(std::string_view key, bool value) {
  start(key);
  fmt::format_to(std::back_inserter(buffer_), "{}", value);
}

void JsonStream::member(std::string_view key, std::string_view value) {
  start(key);
  quote(value);
}

void JsonStream::member(std::string_view key, Seconds value) {
  start(key);
  append_seconds(buffer_, value.ns);
}

void JsonStream::null(std::string_view key) { number(key, "null"); }

void JsonStream::number(std::string_view key, std::string_view digits) {
  start(key);
  buffer_.append(digits);
}

void JsonStream::begin(char bracket, std::string_view key, Layout layout) {
  start(key);
  buffer_.push_back(bracket);
  const bool compact = layout == Layout::compact || (!levels_.empty() && levels_.back().compact);
  levels_.push_back({compact, true});
}

void JsonStream::end(char bracket) {
  const Level level = levels_.back();
  levels_.pop_back();
  if (!level.compact && !level.empty) new_line();
  buffer_.push_back(bracket);
  if (levels_.empty()) buffer_.push_back('\n');
  if (levels_.empty() || buffer_.size() >= kFlushAt) flush();
}

// The comma, the line and the key before a value.
void JsonStream::start(std::string_view key) {
  if (!levels_.empty()) {
    Level& level = levels_.back();
    if (!level.empty) buffer_.push_back(',');
    level.empty = false;
    if (!level.compact) new_line();
  }
  if (key.empty()) return;
  quote(key);
  buffer_.push_back(':');
  if (levels_.empty() || !levels_.back().compact) buffer_.push_back(' ');
}

void JsonStream::new_line() {
  buffer_.push_back('\n');
  for (std::size_t i = 0; i < 2 * levels_.size(); ++i) buffer_.push_back(' ');
}

// No result keeps the password or the signature of a URL.
void JsonStream::quote(std::string_view whole) {
  std::string open;
  std::string_view text = whole;
  if (whole.find("://") != whole.npos || whole.find('?') != whole.npos)
    text = open = without_secrets(whole);
  if (std::all_of(text.begin(), text.end(), is_plain)) {
    buffer_.push_back('"');
    buffer_.append(text);
    buffer_.push_back('"');
    return;
  }
  // Bytes that are no UTF-8 become U+FFFD: a path may hold any.
  using nlohmann::json;
  buffer_.append(json(std::string(text)).dump(-1, ' ', false, json::error_handler_t::replace));
}

void JsonStream::flush() {
  out_.write(buffer_.data(), static_cast<std::streamsize>(buffer_.size()));
  buffer_.clear();
}

void write_text(JsonStream& json, std::string_view key, const std::string& text) {
  if (text.empty()) return json.null(key);
  json.member(key, std::string_view(text));
}

}  // namespace loaderscope
