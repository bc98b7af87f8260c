#include "engine/guest/belongings.h"

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

}  // namespace

Belongings::Belongings() : folder_(place_of_folders(), kName) {
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
