#include "dataset/walk.h"

#include <dirent.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>
#include <memory>
#include <vector>

#include "loaderscope/errors.h"

namespace loaderscope::dataset {
namespace {

enum class What { file, folder, neither };

What what_is(const dirent& entry, const std::string& path, bool follow_folders) {
  if (entry.d_type == DT_REG) return What::file;
  if (entry.d_type == DT_DIR) return What::folder;
  if (entry.d_type != DT_LNK && entry.d_type != DT_UNKNOWN) return What::neither;
  struct stat status {};
  if (::lstat(path.c_str(), &status) != 0) return What::neither;
  const bool link = S_ISLNK(status.st_mode);
  // A link that leads nowhere is a file that cannot be read: whoever opens it says so.
  if (link && ::stat(path.c_str(), &status) != 0) return What::file;
  if (S_ISREG(status.st_mode)) return What::file;
  return S_ISDIR(status.st_mode) && (!link || follow_folders) ? What::folder : What::neither;
}

}  // namespace

void walk_files(const std::string& root, const Walk& walk) {
  std::vector<std::string> waiting = {""};  // folders, relative, with a slash at the end
  while (!waiting.empty()) {
    const std::string folder = std::move(waiting.back());
    waiting.pop_back();
    const bool is_root = folder.empty();
    const std::unique_ptr<DIR, int (*)(DIR*)> open(::opendir((root + "/" + folder).c_str()),
                                                   ::closedir);
    if (!open) {
      if (is_root) {
        throw RunError(shown_text(root) + ": cannot be read: " + std::strerror(errno) +
                       "; give a folder of images");
      }
      walk.on_unreadable(folder, errno);
      continue;
    }
    while (const dirent* entry = ::readdir(open.get())) {
      if (entry->d_name[0] == '.') continue;
      std::string path = folder + entry->d_name;
      const What what = what_is(*entry, root + "/" + path, is_root);
      if (what == What::folder) waiting.push_back(path + "/");
      if (what == What::file && !walk.on_file(std::move(path))) return;
    }
  }
}

}  // namespace loaderscope::dataset
