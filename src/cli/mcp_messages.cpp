#include "cli/mcp_messages.h"

#include <poll.h>
#include <unistd.h>

#include <cerrno>

namespace loaderscope::mcp {

Json make_error(const Json& id, ErrorCode code, const std::string& sentence) {
  return {{"jsonrpc", "2.0"},
          {"id", id},
          {"error", {{"code", static_cast<int>(code)}, {"message", sentence}}}};
}

Json make_result(const Json& id, Json result) {
  return {{"jsonrpc", "2.0"}, {"id", id}, {"result", std::move(result)}};
}

Json make_notification(const std::string& method, Json params) {
  return {{"jsonrpc", "2.0"}, {"method", method}, {"params", std::move(params)}};
}

void LineBuffer::add(const char* bytes, std::size_t count) { waiting_.append(bytes, count); }

std::optional<LineBuffer::Line> LineBuffer::next() {
  const std::size_t end = waiting_.find('\n');
  if (end == waiting_.npos) {
    if (waiting_.size() > longest_) {
      skips_ = true;
      waiting_.clear();
    }
    return std::nullopt;
  }
  Line line{waiting_.substr(0, end), skips_ || end > longest_};
  waiting_.erase(0, end + 1);
  skips_ = false;
  if (line.is_too_long) line.text.clear();
  return line;
}

bool write_message(int descriptor, const Json& message) {
  const std::string line = message.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
  std::size_t done = 0;
  while (done < line.size()) {
    const ssize_t written = ::write(descriptor, line.data() + done, line.size() - done);
    if (written >= 0) {
      done += static_cast<std::size_t>(written);
    } else if (errno == EAGAIN) {
      pollfd writable{descriptor, POLLOUT, 0};
      ::poll(&writable, 1, -1);
    } else if (errno != EINTR) {
      return false;
    }
  }
  return true;
}

}  // namespace loaderscope::mcp
