#include "engine/guest/belongings.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <system_error>

#include "engine/guest/embedded.h"
#include "loaderscope/errors.h"

namespace loaderscope::guest {
namespace {

namespace fs = std::filesystem;

// Short enough for the address of a socket.
constexpr std::size_t kLongestFolder = 70;

const std::string kName = "loaderscope-run-";

std::string place_of_folders() {
  const char* given = std::getenv("TMPDIR");
  const std::string place = given != nullptr && *given != '\0' ? given : "/tmp";
  return place.size() + kName.size() > kLongestFolder ? "/tmp" : place;
}

bool somebody_listens(const fs::path& socket_path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::strncpy(address.sun_path, socket_path.c_str(), sizeof(address.sun_path) - 1);
  const int line = ::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  const bool refused =
      line >= 0 &&
      ::connect(line, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 &&
      errno == ECONNREFUSED;
  if (line >= 0) ::close(line);
  return !refused;
}

// Of runs that were killed: their socket is there, and nobody listens to it.
void remove_stale_folders(const std::string& place) {
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(place, ignored)) {
    const fs::path path = entry.path();
    if (!path.filename().string().starts_with(kName)) continue;
    if (!somebody_listens(path / "host")) fs::remove_all(path, ignored);
  }
}

std::string make_folder() {
  const std::string place = place_of_folders();
  remove_stale_folders(place);
  std::string folder = place + "/" + kName + "XXXXXX";
  if (::mkdtemp(folder.data()) == nullptr) {
    throw RunError(place + ": cannot make a temporary folder: " + std::strerror(errno) +
                   "; set TMPDIR to a place that can be written");
  }
  return folder;
}

}  // namespace

Belongings::Belongings() : folder_(make_folder()) {
  try {
    for (const EmbeddedFile& file : embedded_files()) write(std::string(file.name), file.content);
  } catch (...) {
    remove();
    throw;
  }
}

Belongings::~Belongings() { remove(); }

void Belongings::remove() const {
  std::error_code ignored;
  fs::remove_all(folder_, ignored);
}

void Belongings::write(const std::string& name, std::string_view content) const {
  const fs::path path = fs::path(folder_) / name;
  std::error_code error;
  fs::create_directories(path.parent_path(), error);
  std::ofstream out(path, std::ios::binary);
  out.write(content.data(), static_cast<std::streamsize>(content.size()));
  out.close();
  if (!out) {
    throw RunError(path.string() + ": cannot be written: " + std::strerror(errno) +
                   "; free some space, or set TMPDIR to another place");
  }
}

int Belongings::pythons_seen() const {
  int seen = 0;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(folder_ + "/seen", ignored)) {
    static_cast<void>(entry);
    ++seen;
  }
  return seen;
}

}  // namespace loaderscope::guest
