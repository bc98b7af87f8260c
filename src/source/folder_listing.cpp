#include "source/folder_listing.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <system_error>

#include "base/failure_text.h"
#include "base/image_formats.h"

namespace loaderscope::source {
namespace {

[[noreturn]] void fail_to_list(const std::string& path, int error) {
  const std::string cause = std::generic_category().message(error);
  const std::string remedy = exhaustion_hint(error);
  if (remedy.empty()) throw CannotList(path, cause);
  throw RunError(shown_text(path) + ": cannot be listed (" + cause + ")", remedy);
}

int open_folder(const std::string& path) {
  for (;;) {
    const int fd = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NONBLOCK);
    if (fd >= 0 || errno != EINTR) return fd;
  }
}

enum class Entry { image, other, folder, folder_by_link, nothing };

Entry kind_of(int folder, const dirent& entry) {
  const bool named_image = is_image_name(entry.d_name);
  if (entry.d_type == DT_DIR) return Entry::folder;
  if (entry.d_type == DT_REG || (entry.d_type == DT_LNK && named_image)) {
    return named_image ? Entry::image : Entry::other;
  }
  if (entry.d_type != DT_LNK && entry.d_type != DT_UNKNOWN) return Entry::nothing;
  struct stat self {};
  struct stat target {};
  if (::fstatat(folder, entry.d_name, &self, AT_SYMLINK_NOFOLLOW) != 0) return Entry::nothing;
  const bool is_link = S_ISLNK(self.st_mode);
  const bool found = !is_link || ::fstatat(folder, entry.d_name, &target, 0) == 0;
  const mode_t mode = is_link ? target.st_mode : self.st_mode;
  if (found && S_ISDIR(mode)) return is_link ? Entry::folder_by_link : Entry::folder;
  if (named_image && (is_link || S_ISREG(mode))) return Entry::image;
  return found && S_ISREG(mode) ? Entry::other : Entry::nothing;
}

}  // namespace

CannotList::CannotList(const std::string& path, const std::string& why, const std::string& hint)
    : RunError(shown_text(path) + ": cannot be listed (" + why + ")",
               hint.empty() ? "check its permissions, or give another folder" : hint),
      cause(why) {}

void Names::add(std::string_view name) {
  places_.push_back({text_.size() & ((std::uint64_t{1} << 48) - 1), name.size() & 0xffff});
  text_ += name;
}

void Names::sort() {
  std::sort(places_.begin(), places_.end(), [this](Place a, Place b) { return at(a) < at(b); });
}

FolderListing list_folder(const std::string& path) {
  const int fd = open_folder(path);
  if (fd < 0) fail_to_list(path, errno);
  const std::unique_ptr<DIR, int (*)(DIR*)> folder(::fdopendir(fd), &::closedir);
  if (!folder) {
    const int error = errno;
    ::close(fd);
    fail_to_list(path, error);
  }
  struct stat facts {};
  if (::fstat(fd, &facts) != 0) fail_to_list(path, errno);
  FolderListing listing;
  listing.device = facts.st_dev;
  listing.stamp = version_stamp(facts);
  for (;;) {
    errno = 0;
    const dirent* entry = ::readdir(folder.get());
    if (entry == nullptr) break;
    if (entry->d_name[0] == '.') continue;
    switch (kind_of(fd, *entry)) {
      case Entry::image:
        listing.images.add(entry->d_name);
        break;
      case Entry::other:
        listing.others.add(entry->d_name);
        break;
      case Entry::folder:
        listing.folders.push_back({entry->d_name, false});
        break;
      case Entry::folder_by_link:
        listing.folders.push_back({entry->d_name, true});
        break;
      case Entry::nothing:
        break;
    }
  }
  if (errno != 0) fail_to_list(path, errno);
  listing.images.sort();
  return listing;
}

FolderStamp version_stamp(const struct stat& facts) {
  constexpr std::int64_t kSecond = 1'000'000'000;
  // Some file systems number nothing; 0 would mean that the folder is not watched.
  const std::uint64_t inode = facts.st_ino != 0 ? facts.st_ino : 1;
  return {inode, facts.st_mtim.tv_sec * kSecond + facts.st_mtim.tv_nsec};
}

}  // namespace loaderscope::source
