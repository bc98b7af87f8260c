#include "machine/open_file.h"

#include <arpa/inet.h>

#include <array>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string_view>
#include <utility>

namespace loaderscope {
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
  const std::string narrow = other_side_in(folder + "tcp", inode, false);
  return narrow.empty() ? other_side_in(folder + "tcp6", inode, true) : narrow;
}

std::string folder_of(pid_t process, const std::filesystem::path& root) {
  return (root / "proc" / std::to_string(process)).string();
}

constexpr std::string_view kSocket = "socket:[";

}  // namespace

// "sl local_address rem_address st ... inode": the tenth word.
std::string other_side_in(const std::string& path, const std::string& inode, bool wide) {
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
                         folder_of(process, root) + "/fd/" + std::to_string(descriptor), gone)
                         .string();
  const bool is_socket = name.starts_with(kSocket);
  return {std::move(name), is_socket};
}

OpenFile open_file(pid_t process, int descriptor, const std::filesystem::path& root) {
  OpenFile file = open_file_here(process, descriptor, root);
  if (!file.is_socket) return file;
  const std::string inode = file.name.substr(kSocket.size(), file.name.size() - kSocket.size() - 1);
  return {other_side(folder_of(process, root), inode), true};
}

}  // namespace loaderscope
