#include "guest/host/guest_files.h"

#include <sys/statvfs.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <system_error>
#include <utility>

#include "loaderscope/errors.h"

namespace loaderscope::guest {
namespace {

namespace fs = std::filesystem;

// Short enough for the address of a socket.
constexpr std::size_t kMaxFolder = 70;

const std::string kName = "loaderscope-run-";
// Below it.
constexpr const char* kSeen = "/seen";              // a file for each Python
constexpr const char* kUnmeasured = "/unmeasured";  // a link for each process, to the reason

bool may_be_run_from(const std::string& place) {
  struct statvfs mount {};
  return ::statvfs(place.c_str(), &mount) != 0 || (mount.f_flag & ST_NOEXEC) == 0;
}

// The library is loaded from there, which a mount may forbid.
std::string place_of_folders() {
  const char* given = std::getenv("TMPDIR");
  std::string first = given != nullptr && *given != '\0' ? given : "/tmp";
  if (first.size() + kName.size() > kMaxFolder) first = "/tmp";
  for (const std::string& place : {first, std::string("/tmp"), std::string("/var/tmp")}) {
    if (may_be_run_from(place)) return place;
  }
  throw RunError(first + ": is mounted noexec, and no library can be loaded from it",
                 "set TMPDIR to a place that is not");
}

}  // namespace

GuestFiles::GuestFiles(std::string_view settings) : folder_(place_of_folders(), kName) {
  for (const EmbeddedFile& file : embedded_files()) write(std::string(file.name), file.content);
  write("settings.json", settings);
  for (const char* name : {kSeen, kUnmeasured}) fs::create_directory(folder() + name);
}

void GuestFiles::write(const std::string& name, std::string_view content) const {
  const fs::path path = fs::path(folder()) / name;
  std::error_code error;
  fs::create_directories(path.parent_path(), error);
  std::ofstream out(path, std::ios::binary);
  out.write(content.data(), static_cast<std::streamsize>(content.size()));
  out.close();
  if (!out) {
    throw RunError(path.string() + ": cannot be written (" + std::strerror(errno) + ")",
                   "free some space, or set TMPDIR to another place");
  }
}

int GuestFiles::pythons_seen() const {
  int seen = 0;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(folder() + kSeen, ignored)) {
    static_cast<void>(entry);
    ++seen;
  }
  return seen;
}

std::vector<UnmeasuredProcess> GuestFiles::unmeasured() const {
  std::vector<UnmeasuredProcess> all;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(folder() + kUnmeasured, ignored)) {
    const std::string name = entry.path().filename().string();
    UnmeasuredProcess one;
    one.process = static_cast<pid_t>(std::atol(name.c_str()));
    one.is_worker = name.ends_with("worker");
    one.reason = shown_text(fs::read_symlink(entry.path(), ignored).string());
    all.push_back(std::move(one));
  }
  return all;
}

}  // namespace loaderscope::guest
