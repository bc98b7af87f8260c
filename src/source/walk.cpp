#include "source/walk.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <tuple>
#include <utility>

#include "base/thread_team.h"
#include "loaderscope/errors.h"
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
      node.listing = store_of(path).list(path);
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
      return std::tuple(node->root, class_of(node->relative), std::string_view(node->relative));
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

}  // namespace loaderscope::source
