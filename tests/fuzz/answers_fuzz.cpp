// Answers of servers: headers, listings of object stores, and the URLs that lead to them.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/secret.h"
#include "loaderscope/errors.h"
#include "source/remote/http_response.h"
#include "source/remote/location.h"

namespace {

namespace source = loaderscope::source;

void read_headers(std::string_view text) {
  source::HttpResponse answer;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    answer.take_header(line);
    text.remove_prefix(std::min(text.size(), line.size() + 1));
  }
  answer.take_reason(text);
  if (answer.length.value_or(0) < 0 || answer.retry_after.value_or(0) < 0) __builtin_trap();
  if (answer.range_begin && *answer.range_end <= *answer.range_begin) __builtin_trap();
  if (answer.stamp().inode == 0 || source::trouble_of_status(answer, true).what.empty())
    __builtin_trap();
}

void read_listing(std::string_view text) {
  try {
    source::parse_s3_listing(text);
  } catch (const loaderscope::ValueError&) {
  }
}

void read_url(std::string_view text) {
  const std::string shown = loaderscope::without_secrets(text);
  if (loaderscope::holds_secret(shown)) __builtin_trap();
  try {
    const source::Location where = source::locate("http://" + std::string(text));
    if (where.host.find('@') != std::string::npos) __builtin_trap();
    if (where.url().find_first_of(" \r\n") != std::string::npos) __builtin_trap();
  } catch (const loaderscope::ValueError&) {
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  read_headers(text);
  read_listing(text);
  read_url(text);
  return 0;
}
