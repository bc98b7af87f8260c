#include <algorithm>
#include <chrono>
#include <mutex>
#include <utility>

#include "base/thread_team.h"
#include "dataset/info.h"
#include "dataset/inspector.h"
#include "source/walk.h"

namespace loaderscope::dataset {
namespace {

// Some files of one folder: what a thread takes at a time.
struct Portion {
  const source::WalkedFolder* folder;
  const source::Names* names;
  std::size_t begin, end;
};

void add_portions(const source::WalkedFolder& folder, const source::Names& names,
                  std::vector<Portion>& portions) {
  constexpr std::size_t kAtOnce = 128;
  for (std::size_t begin = 0; begin < names.size(); begin += kAtOnce)
    portions.push_back({&folder, &names, begin, std::min(begin + kAtOnce, names.size())});
}

class Inspection {
 public:
  Inspection(const std::string& path, const InfoContext& context)
      : context_(context), team_(context.stop_signal) {
    info_.path = path;
    info_.checked = static_cast<bool>(context.make_decoder);
  }

  DatasetInfo run() {
    list();
    team_.run(
        context_.threads, [this] { look(); }, [this] { show(); });
    info_.interrupted = team_.stopping();
    return std::move(info_);
  }

 private:
  // Lists the files that a run would find, and the other files.
  void list() {
    const auto begin = std::chrono::steady_clock::now();
    SourceContext listing;
    listing.stop_signal = context_.stop_signal;
    try {
      folders_ = source::walk({info_.path}, listing,
                              [this](const std::string& folder, const std::string& cause) {
                                ++info_.unreadable_folders;
                                info_.name_damaged({folder + "/", "it cannot be read: " + cause});
                              });
    } catch (const RunError&) {
      if (!listing.stopped()) throw;
    }
    info_.index = std::chrono::nanoseconds(std::chrono::steady_clock::now() - begin).count();
    for (const source::WalkedFolder& folder : folders_) {
      add_portions(folder, folder.images, portions_);
      add_portions(folder, folder.others, portions_);
    }
  }

  void look() {
    Inspector inspector(info_.path, context_);
    for (std::size_t at = next_++; at < portions_.size(); at = next_++) {
      const Portion& portion = portions_[at];
      for (std::size_t i = portion.begin; i < portion.end && !team_.stopping(); ++i) {
        bytes_ +=
            inspector.inspect(source::join_path(portion.folder->relative, (*portion.names)[i]));
        ++files_;
      }
    }
    const std::lock_guard lock(mutex_);
    info_.merge(inspector.seen());
  }

  void show() {
    if (context_.on_progress) context_.on_progress({files_, bytes_});
  }

  const InfoContext& context_;
  ThreadTeam team_;
  std::vector<source::WalkedFolder> folders_;
  std::vector<Portion> portions_;
  std::atomic<std::size_t> next_{0};
  std::mutex mutex_;
  DatasetInfo info_;  // path and checked are constant while threads run; mutex_ protects the rest
  std::atomic<std::int64_t> files_{0}, bytes_{0};
};

}  // namespace

DatasetInfo inspect_folder(const std::string& path, const InfoContext& context) {
  return Inspection(path, context).run();
}

}  // namespace loaderscope::dataset
