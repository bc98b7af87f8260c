// Messages of the Model Context Protocol: JSON-RPC 2.0, one message per line.
#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

namespace loaderscope::mcp {

using Json = nlohmann::ordered_json;

// Codes of JSON-RPC.
enum class ErrorCode : int {
  parse_error = -32700,
  invalid_request = -32600,
  method_not_found = -32601,
  invalid_params = -32602,
  internal_error = -32603,
};

Json make_error(const Json& id, ErrorCode code, const std::string& sentence);
Json make_result(const Json& id, Json result);
Json make_notification(const std::string& method, Json params);

// Cuts a byte stream into lines. A line that is too long is skipped up to its end.
class LineBuffer {
 public:
  explicit LineBuffer(std::size_t longest) : longest_(longest) {}

  void add(const char* bytes, std::size_t count);
  struct Line {
    std::string text;
    bool is_too_long = false;
  };
  // Returns nothing if no whole line is left.
  std::optional<Line> next();

 private:
  const std::size_t longest_;
  std::string waiting_;
  bool skips_ = false;
};

// Writes a message and the end of its line. Returns false if the reader is gone.
bool write_message(int descriptor, const Json& message);

}  // namespace loaderscope::mcp
