// Writes JSON as it goes: a million steps take no memory, and seconds keep all nine decimals.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "loaderscope/units.h"

namespace loaderscope {

// Integer ns that JSON shows as seconds: 2.560000000.
struct Seconds {
  Nanos ns;
};

std::string seconds_text(Nanos ns);

class JsonStream {
 public:
  // `lines`: members each on a line of their own; `compact`: all on one line.
  enum class Layout { lines, compact };

  explicit JsonStream(std::ostream& out) : out_(out) {}
  ~JsonStream() { flush(); }
  JsonStream(const JsonStream&) = delete;
  JsonStream& operator=(const JsonStream&) = delete;

  // Without a key: an element of an array, or the document. Within compact everything is compact.
  void begin_object(std::string_view key = {}, Layout layout = Layout::lines) {
    begin('{', key, layout);
  }
  void end_object() { end('}'); }
  void begin_array(std::string_view key = {}, Layout layout = Layout::lines) {
    begin('[', key, layout);
  }
  void end_array() { end(']'); }

  void member(std::string_view key, std::int64_t value);
  void member(std::string_view key, double value);  // null when not finite
  void member(std::string_view key, bool value);
  void member(std::string_view key, std::string_view value);
  void member(std::string_view key, const char* value) { member(key, std::string_view(value)); }
  void member(std::string_view key, Seconds value);
  void null(std::string_view key);
  void number(std::string_view key,
              std::string_view digits);  // unchanged text of a JSON number

  void element(std::int64_t value) { member({}, value); }
  void element(double value) { member({}, value); }
  void element(std::string_view value) { member({}, value); }
  void element(Seconds value) { member({}, value); }

 private:
  struct Level {
    bool compact;
    bool empty;
  };
  void begin(char bracket, std::string_view key, Layout layout);
  void end(char bracket);
  void start(std::string_view key);
  void new_line();
  void quote(std::string_view text);
  void flush();

  std::ostream& out_;
  fmt::memory_buffer buffer_;
  std::vector<Level> levels_;
};

inline constexpr auto kCompact = JsonStream::Layout::compact;

// Null for an empty text.
void write_text(JsonStream& json, std::string_view key, const std::string& text);

}  // namespace loaderscope
