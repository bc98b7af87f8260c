#include "guest/host/stack_request.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <fstream>

namespace loaderscope::guest {
namespace {

constexpr long kMaxRead = 256 * 1024;  // bytes of an answer

// Opens the offered file of the process. Fails if the descriptor is another file now.
Fd memory_of(pid_t process, const StacksMessage& offer) {
  const std::string path =
      "/proc/" + std::to_string(process) + "/fd/" + std::to_string(offer.descriptor);
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode) ||
      static_cast<std::int64_t>(status.st_ino) != offer.inode)
    return Fd();
  return Fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
}

}  // namespace

// "SigCgt:\t0000000180004a02": bit 0 is signal 1.
bool takes_signal(pid_t process, int signal) {
  constexpr std::string_view kCaught = "SigCgt:";
  std::ifstream file("/proc/" + std::to_string(process) + "/status");
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with(kCaught)) continue;
    const std::uint64_t caught = std::stoull(line.substr(kCaught.size()), nullptr, 16);
    return signal > 0 && signal <= 64 && (caught >> (signal - 1) & 1) != 0;
  }
  return false;
}

// Signals the main thread. Another thread may run a library that cannot handle signals.
void StackRequest::ask(pid_t process, const StacksMessage& offer) {
  Fd memory = memory_of(process, offer);
  if (memory < 0 || !takes_signal(process, offer.signal)) return;
  const long before = std::max<long>(0, ::lseek(memory, 0, SEEK_END));
  if (::syscall(SYS_tgkill, process, process, offer.signal) != 0) return;
  asked_[process] = {std::move(memory), before};
}

std::vector<hang::PythonThread> StackRequest::answer_of(pid_t process) const {
  const auto asked = asked_.find(process);
  if (asked == asked_.end()) return {};
  const auto& [memory, before] = asked->second;
  const long size = std::clamp<long>(::lseek(memory, 0, SEEK_END) - before, 0, kMaxRead);
  std::string text(static_cast<std::size_t>(size), '\0');
  const ssize_t got = ::pread(memory, text.data(), text.size(), before);
  text.resize(static_cast<std::size_t>(std::max<ssize_t>(0, got)));
  return hang::parse_dump(text);
}

}  // namespace loaderscope::guest
