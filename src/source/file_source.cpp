#include "source/file_source.h"

#include <utility>

namespace loaderscope::source {

FileSource::FileSource(const SourceOptions& options, std::vector<std::string> roots, Index index)
    : ExtentSource(options), roots_(std::move(roots)), index_(std::move(index)) {
  if (index_.left_out() > 0) {
    add_note(std::to_string(index_.left_out()) +
             " images outside the class folders belong to no class and are left out, as "
             "torchvision does");
  }
}

std::string FileSource::describe(std::int64_t sample) const {
  std::string path;
  path_of(sample, path);
  return path;
}

void FileSource::path_of(std::int64_t object, std::string& path) const {
  thread_local std::string name;
  const FolderEntry folder = index_.folder(index_.file(object, name));
  path.clear();
  const auto append = [&path](std::string_view part) {
    if (!path.empty() && path.back() != '/' && !part.empty()) path += '/';
    path += part;
  };
  if (folder.root < roots_.size()) append(roots_[folder.root]);
  append(folder.relative);
  append(name);
}

}  // namespace loaderscope::source
