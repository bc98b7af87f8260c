#include "base/thread_io.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <string_view>

namespace loaderscope {
namespace {

// Returns the number after `name` in "rchar: 123\n..."
std::optional<std::int64_t> labelled_number(std::string_view text, std::string_view name) {
  const auto found = text.find(name);
  if (found == text.npos) return std::nullopt;
  const std::string_view rest = text.substr(found + name.size());
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), value);
  return error == std::errc() ? std::optional(value) : std::nullopt;
}

}  // namespace

ThreadIo::ThreadIo() : file_(::open("/proc/thread-self/io", O_RDONLY | O_CLOEXEC)) {}

std::optional<ThreadIo::Reads> ThreadIo::since_last() {
  std::array<char, 256> text{};
  const ssize_t got = file_ < 0 ? -1 : ::pread(file_, text.data(), text.size(), 0);
  if (got <= 0) return std::nullopt;
  const std::string_view all(text.data(), static_cast<std::size_t>(got));
  const auto bytes = labelled_number(all, "rchar: "), calls = labelled_number(all, "syscr: ");
  if (!bytes || !calls) return std::nullopt;
  const std::optional<Reads> last = last_;
  last_ = Reads{*calls + 1, *bytes + got};  // this call is counted too, after its own read
  if (!last) return std::nullopt;
  return Reads{*calls - last->calls, *bytes - last->bytes};
}

}  // namespace loaderscope
