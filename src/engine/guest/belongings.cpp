#include "engine/guest/belongings.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <system_error>
#include <utility>

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

// Holds the folder until the descriptor is closed: at the latest when this process ends, however it
// ends. Empty where the folder cannot be held; with LOCK_NB also where somebody else holds it.
source::Fd held(const fs::path& folder, int how) {
  source::Fd lock(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  return lock >= 0 && ::flock(lock, LOCK_EX | how) == 0 ? std::move(lock) : source::Fd();
}

bool is_still_there(const source::Fd& folder) {
  struct stat facts {};
  return ::fstat(folder, &facts) == 0 && facts.st_nlink > 0;
}

// Of runs that were killed: nobody holds them.
void remove_stale_folders(const std::string& place) {
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(place, ignored)) {
    const fs::path path = entry.path();
    if (!path.filename().string().starts_with(kName)) continue;
    const source::Fd lock = held(path, LOCK_NB);
    if (lock >= 0) fs::remove_all(path, ignored);
  }
}

}  // namespace

PrivateFolder::PrivateFolder() {
  const std::string place = place_of_folders();
  remove_stale_folders(place);
  // Between being made and being held it looks like one left behind, and another run may remove it.
  do {
    path_ = place + "/" + kName + "XXXXXX";
    if (::mkdtemp(path_.data()) == nullptr) {
      throw RunError(place + ": cannot make a temporary folder: " + std::strerror(errno) +
                     "; set TMPDIR to a place that can be written");
    }
    lock_ = held(path_, 0);
  } while (lock_ >= 0 && !is_still_there(lock_));
}

PrivateFolder::~PrivateFolder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

Belongings::Belongings() {
  for (const EmbeddedFile& file : embedded_files()) write(std::string(file.name), file.content);
}

void Belongings::write(const std::string& name, std::string_view content) const {
  const fs::path path = fs::path(folder()) / name;
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
  for (const auto& entry : fs::directory_iterator(folder() + "/seen", ignored)) {
    static_cast<void>(entry);
    ++seen;
  }
  return seen;
}

}  // namespace loaderscope::guest
