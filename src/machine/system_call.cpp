#include "machine/system_call.h"

#include <arpa/inet.h>
#include <linux/futex.h>
#include <poll.h>
#include <sys/syscall.h>
#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <ctime>
#include <fstream>
#include <sstream>
#include <utility>

#include "machine/proc_file.h"

namespace loaderscope {
namespace {

// The argument of a call that names its object.
enum class Says : std::uint8_t { nothing, descriptor, path, path_behind, descriptors };

struct CallRow {
  long number;
  std::string_view name;
  CallKind kind;
  Says says;
};

constexpr CallRow kCalls[] = {
    {SYS_read, "read", CallKind::reads, Says::descriptor},
    {SYS_pread64, "pread", CallKind::reads, Says::descriptor},
    {SYS_readv, "readv", CallKind::reads, Says::descriptor},
    {SYS_preadv, "preadv", CallKind::reads, Says::descriptor},
    {SYS_recvfrom, "recv", CallKind::reads, Says::descriptor},
    {SYS_recvmsg, "recvmsg", CallKind::reads, Says::descriptor},
    {SYS_getdents64, "getdents", CallKind::reads, Says::descriptor},
    {SYS_write, "write", CallKind::writes, Says::descriptor},
    {SYS_pwrite64, "pwrite", CallKind::writes, Says::descriptor},
    {SYS_sendto, "send", CallKind::writes, Says::descriptor},
    {SYS_sendmsg, "sendmsg", CallKind::writes, Says::descriptor},
    {SYS_fsync, "fsync", CallKind::writes, Says::descriptor},
    {SYS_openat, "open", CallKind::opens, Says::path_behind},
    {SYS_newfstatat, "stat", CallKind::opens, Says::path_behind},
    {SYS_statx, "stat", CallKind::opens, Says::path_behind},
    {SYS_connect, "connect", CallKind::connects, Says::descriptor},
    {SYS_ppoll, "poll", CallKind::polls, Says::descriptors},
    {SYS_pselect6, "select", CallKind::polls, Says::nothing},
    {SYS_epoll_pwait, "epoll_wait", CallKind::polls, Says::nothing},
    {SYS_futex, "futex", CallKind::locks, Says::nothing},
    {SYS_flock, "flock", CallKind::locks_file, Says::descriptor},
    {SYS_fcntl, "fcntl", CallKind::locks_file, Says::descriptor},
    {SYS_nanosleep, "nanosleep", CallKind::sleeps, Says::nothing},
    {SYS_clock_nanosleep, "nanosleep", CallKind::sleeps, Says::nothing},
    {SYS_wait4, "wait", CallKind::other, Says::nothing},
    {SYS_waitid, "wait", CallKind::other, Says::nothing},
#ifdef SYS_open  // calls that younger architectures lack
    {SYS_open, "open", CallKind::opens, Says::path},
    {SYS_stat, "stat", CallKind::opens, Says::path},
    {SYS_poll, "poll", CallKind::polls, Says::descriptors},
    {SYS_select, "select", CallKind::polls, Says::nothing},
    {SYS_epoll_wait, "epoll_wait", CallKind::polls, Says::nothing},
#endif
};

// Copies memory of another process. Returns less than `size` if less is mapped.
std::size_t copy_from(pid_t process, std::uint64_t address, void* to, std::size_t size) {
  const iovec here{to, size};
  const iovec there{reinterpret_cast<void*>(address), size};
  const ssize_t copied = ::process_vm_readv(process, &here, 1, &there, 1, 0);
  return copied > 0 ? static_cast<std::size_t>(copied) : 0;
}

// Up to the end of the text's page, which may be the last one that is mapped.
std::string text_at(pid_t process, std::uint64_t address) {
  constexpr std::uint64_t kPage = 4096;
  std::array<char, kPage> text{};
  const std::size_t size = copy_from(process, address, text.data(), kPage - address % kPage);
  return {text.begin(), std::find(text.begin(), text.begin() + size, '\0')};
}

// Returns the first polled descriptor. A process that waits for an answer polls only one.
int first_polled(pid_t process, std::uint64_t address) {
  pollfd first{-1, 0, 0};
  return copy_from(process, address, &first, sizeof first) == sizeof first ? first.fd : -1;
}

using Arguments = std::array<std::uint64_t, 4>;

OpenFile describe_file(pid_t process, int descriptor, const CallLook& how) {
  return how.other_side ? open_file(process, descriptor, how.root)
                        : open_file_here(process, descriptor, how.root);
}

// The time that a wait for a lock is given up at is absolute.
Nanos wait_limit(pid_t process, const Arguments& arguments) {
  const auto operation = static_cast<int>(arguments[1]);
  timespec until{}, now{};
  if ((operation & FUTEX_CMD_MASK) != FUTEX_WAIT_BITSET || arguments[3] == 0 ||
      copy_from(process, arguments[3], &until, sizeof until) != sizeof until)
    return 0;
  ::clock_gettime((operation & FUTEX_CLOCK_REALTIME) != 0 ? CLOCK_REALTIME : CLOCK_MONOTONIC, &now);
  const Nanos left =
      static_cast<Nanos>(until.tv_sec - now.tv_sec) * kSecond + (until.tv_nsec - now.tv_nsec);
  return std::max<Nanos>(0, left);
}

OpenFile called_file(pid_t process, Says says, const Arguments& arguments, const CallLook& how) {
  switch (says) {
    case Says::descriptor:
      return describe_file(process, static_cast<int>(arguments[0]), how);
    case Says::descriptors:
      return describe_file(process, first_polled(process, arguments[0]), how);
    case Says::path:
      return {text_at(process, arguments[0]), false};
    case Says::path_behind:
      return {text_at(process, arguments[1]), false};
    case Says::nothing:
      break;
  }
  return {};
}

}  // namespace

// "202 0x7f11... 0x189 ...": the number of the call and its arguments; "running" has none.
SystemCall read_system_call(pid_t process, std::string_view text, const CallLook& how) {
  std::istringstream words{std::string(text)};
  long number = -1;
  Arguments arguments{};
  if (!(words >> number >> std::hex >> arguments[0] >> arguments[1])) return {};
  words >> arguments[2] >> arguments[3];
  const auto* row = std::find_if(std::begin(kCalls), std::end(kCalls),
                                 [&](const CallRow& one) { return one.number == number; });
  if (row == std::end(kCalls)) return {};
  const bool is_lock = row->kind == CallKind::locks;
  const bool is_shared = is_lock && (arguments[1] & FUTEX_PRIVATE_FLAG) == 0;
  OpenFile file = called_file(process, row->says, arguments, how);
  return {row->name, is_shared ? CallKind::locks_shared : row->kind, std::move(file.name),
          file.is_socket, is_lock ? wait_limit(process, arguments) : 0};
}

SystemCall read_system_call(pid_t process, const CallLook& how) {
  const std::string folder = (how.root / "proc" / std::to_string(process)).string();
  return read_system_call(process, read_text(folder + "/syscall"), how);
}

namespace {

// "0100007F:1F90", an address in words of this machine's order and a port.
std::string spelled_address(const std::string& text, bool wide) {
  const auto colon = text.find(':');
  const std::size_t words = wide ? 4 : 1;
  if (colon != words * 8) return "";
  std::array<std::uint32_t, 4> address{};
  for (std::size_t i = 0; i < words; ++i)
    address[i] = static_cast<std::uint32_t>(std::stoul(text.substr(i * 8, 8), nullptr, 16));
  std::array<char, INET6_ADDRSTRLEN> spelled{};
  ::inet_ntop(wide ? AF_INET6 : AF_INET, address.data(), spelled.data(), spelled.size());
  const std::string name = spelled.data();
  return (wide ? "[" + name + "]" : name) + ":" +
         std::to_string(std::stoul(text.substr(colon + 1), nullptr, 16));
}

std::string other_side(const std::string& process_folder, const std::string& inode) {
  const std::string folder = process_folder + "/net/";
  const std::string narrow = find_other_side(folder + "tcp", inode, false);
  return narrow.empty() ? find_other_side(folder + "tcp6", inode, true) : narrow;
}

std::string proc_folder(pid_t process, const std::filesystem::path& root) {
  return (root / "proc" / std::to_string(process)).string();
}

constexpr std::string_view kSocket = "socket:[";

}  // namespace

// "sl local_address rem_address st ... inode": the tenth word.
std::string find_other_side(const std::string& path, const std::string& inode, bool wide) {
  constexpr std::size_t kOther = 2, kInode = 9;
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);  // the names of the columns
  while (std::getline(file, line)) {
    std::istringstream words(line);
    std::array<std::string, kInode + 1> word;
    for (std::string& one : word) words >> one;
    if (word[kInode] == inode) return spelled_address(word[kOther], wide);
  }
  return "";
}

OpenFile open_file_here(pid_t process, int descriptor, const std::filesystem::path& root) {
  if (descriptor < 0) return {};
  std::error_code gone;
  std::string name = std::filesystem::read_symlink(
                         proc_folder(process, root) + "/fd/" + std::to_string(descriptor), gone)
                         .string();
  const bool is_socket = name.starts_with(kSocket);
  return {std::move(name), is_socket};
}

OpenFile open_file(pid_t process, int descriptor, const std::filesystem::path& root) {
  OpenFile file = open_file_here(process, descriptor, root);
  if (!file.is_socket) return file;
  const std::string inode = file.name.substr(kSocket.size(), file.name.size() - kSocket.size() - 1);
  return {other_side(proc_folder(process, root), inode), true};
}

}  // namespace loaderscope
