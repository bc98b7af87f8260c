#include "source/walk.h"

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <system_error>
#include <tuple>
#include <utility>

#include "base/failure_text.h"
#include "base/image_formats.h"
#include "base/thread_team.h"
#include "source/parallel.h"
#include "source/store.h"

namespace loaderscope::source {
namespace {

// Folders that are reached through two links and more. Folders that link to each other have more
// ways through them than anybody could wait for.
constexpr std::int64_t kMaxThroughLinks = 10'000;

struct Node {
  const Node* parent = nullptr;
  std::uint32_t root = 0;
  int links = 0;  // number of links on the path
  std::string relative;
  FolderListing listing;
};

bool leads_back(const Node& node) {
  for (const Node* above = node.parent; above != nullptr; above = above->parent) {
    if (above->listing.stamp.inode == node.listing.stamp.inode &&
        above->listing.device == node.listing.device) {
      return true;
    }
  }
  return false;
}

class Walk {
 public:
  Walk(const std::vector<std::string>& roots, const SourceContext& context,
       const OnUnreadable& on_unreadable)
      : roots_(roots), context_(context), on_unreadable_(on_unreadable) {
    for (std::uint32_t root = 0; root < roots.size(); ++root) {
      auto node = std::make_unique<Node>();
      node->root = root;
      waiting_.push_back(std::move(node));
    }
  }

  std::vector<WalkedFolder> run() {
    ThreadTeam(nullptr).run(
        kWaitingThreads, [this] { work(); },
        [this] {
          if (context_.on_progress) {
            context_.on_progress({"listing files", files_.load(), 0});
          }
        });
    context_.throw_if_stopped();
    return sorted();
  }

 private:
  // Ends when no folder waits, and no thread can add one.
  void work() {
    std::unique_lock lock(mutex_);
    for (;;) {
      changed_.wait(lock, [this] { return !waiting_.empty() || busy_ == 0 || failed_; });
      if (waiting_.empty() || failed_ || context_.stopped()) break;
      std::unique_ptr<Node> node = std::move(waiting_.front());
      waiting_.pop_front();
      ++busy_;
      lock.unlock();
      try {
        const bool keep = visit(*node);
        lock.lock();
        --busy_;
        if (keep) add_folders(std::move(node));
      } catch (...) {
        if (!lock.owns_lock()) lock.lock();
        failed_ = true;
        changed_.notify_all();
        throw;
      }
      changed_.notify_all();
    }
    changed_.notify_all();
  }

  bool visit(Node& node) {
    try {
      const std::string path = join_path(roots_[node.root], node.relative);
      node.listing = find_store(path).list(path);
    } catch (const CannotList& error) {
      if (!on_unreadable_ || node.relative.empty()) throw;
      const std::lock_guard lock(mutex_);
      on_unreadable_(node.relative, error.cause);
      return false;
    }
    files_ += static_cast<std::int64_t>(node.listing.images.size());
    return !leads_back(node);
  }

  void add_folders(std::unique_ptr<Node> node) {
    for (const Subfolder& folder : node->listing.folders) {
      auto child = std::make_unique<Node>();
      child->parent = node.get();
      child->root = node->root;
      child->links = node->links + (folder.is_link ? 1 : 0);
      child->relative = join_path(node->relative, folder.name);
      if (child->links >= 2 && ++through_links_ > kMaxThroughLinks) throw too_many_links(*child);
      waiting_.push_back(std::move(child));
    }
    node->listing.folders = {};
    done_.push_back(std::move(node));
  }

  RunError too_many_links(const Node& node) const {
    return RunError(shown_text(join_path(roots_[node.root], node.relative)) + ": more than " +
                        std::to_string(kMaxThroughLinks) +
                        " folders are reached through two and more links",
                    "remove links between folders, or give a manifest with --index");
  }

  std::vector<WalkedFolder> sorted() {
    const auto key = [](const std::unique_ptr<Node>& node) {
      return std::tuple(node->root, class_name(node->relative), std::string_view(node->relative));
    };
    std::sort(done_.begin(), done_.end(),
              [&](const auto& a, const auto& b) { return key(a) < key(b); });
    std::vector<WalkedFolder> folders;
    for (const auto& node : done_) {
      folders.push_back({node->root, std::move(node->relative), node->listing.stamp,
                         std::move(node->listing.images), std::move(node->listing.others)});
    }
    return folders;
  }

  const std::vector<std::string>& roots_;
  const SourceContext& context_;
  const OnUnreadable& on_unreadable_;
  std::atomic<std::int64_t> files_{0};
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::unique_ptr<Node>> waiting_;
  std::vector<std::unique_ptr<Node>> done_;
  int busy_ = 0;
  bool failed_ = false;
  std::int64_t through_links_ = 0;
};

}  // namespace

std::vector<WalkedFolder> walk(const std::vector<std::string>& roots, const SourceContext& context,
                               const OnUnreadable& on_unreadable) {
  return Walk(roots, context, on_unreadable).run();
}

std::string join_path(std::string_view folder, std::string_view name) {
  std::string path(folder);
  if (!path.empty() && !name.empty() && path.back() != '/') path += '/';
  return path += name;
}

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

Entry entry_kind(int folder, const dirent& entry) {
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
    switch (entry_kind(fd, *entry)) {
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
