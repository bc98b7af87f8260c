// Files of this machine.
#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <system_error>

#include "base/failure_text.h"
#include "base/fd.h"
#include "loaderscope/errors.h"
#include "source/extent_opener.h"
#include "source/read_counts.h"
#include "source/store.h"

namespace loaderscope::source {
namespace {

// Not blocking, so that a pipe among the files cannot keep who reads.
constexpr int kFlags = O_RDONLY | O_CLOEXEC | O_NONBLOCK;

std::string cause(int error) { return std::generic_category().message(error); }

class LocalObject final : public StoredObject {
 public:
  explicit LocalObject(const std::string& path) : fd_(::open(path.c_str(), kFlags)) {
    struct stat facts {};
    if (fd_ < 0 || ::fstat(fd_, &facts) != 0) {
      const int error = errno;
      const std::string remedy = exhaustion_hint(error);
      throw ValueError("cannot be opened: " + cause(error),
                       remedy.empty() ? "check the path given with --data" : remedy);
    }
    size_ = facts.st_size;
    stamp_ = version_stamp(facts);
  }

  std::size_t read(Bytes begin, std::span<std::byte> to) override {
    const ReadAt got = read_at(fd_, begin, to);
    if (got.error != 0) throw ValueError("cannot be read: " + cause(got.error));
    return got.bytes;
  }
  Bytes size() const override { return size_; }
  FolderStamp stamp() const override { return stamp_; }

 private:
  Fd fd_;
  Bytes size_ = 0;
  FolderStamp stamp_;
};

class LocalStore final : public ObjectStore {
 public:
  PathFacts look_at(const std::string& path) const override {
    using Found = PathFacts::Kind;
    struct stat facts {};
    if (::stat(path.c_str(), &facts) != 0) return {Found::nothing, cause(errno), 0, {}};
    const Found kind = S_ISREG(facts.st_mode)   ? Found::object
                       : S_ISDIR(facts.st_mode) ? Found::folder
                                                : Found::other;
    return {kind, "", facts.st_size, version_stamp(facts)};
  }

  std::unique_ptr<StoredObject> open(const std::string& path) const override {
    return std::make_unique<LocalObject>(path);
  }

  FolderListing list(const std::string& folder) const override { return list_folder(folder); }

  std::unique_ptr<WholeShard> open_whole(const std::string& path, const AccessOptions&,
                                         const ReadCounts& counts) const override {
    Fd fd(::open(path.c_str(), kFlags));
    struct stat facts {};
    if (fd < 0 || ::fstat(fd, &facts) != 0) fail_to_open(path, errno);
    if (!S_ISREG(facts.st_mode))
      throw SampleError(SampleError::Kind::unreadable, "is not a regular file");
    counts.count_opened();
    return std::make_unique<WholeFile>(std::move(fd), counts);
  }

  FileSystemKind file_system_of(const std::string& path) const override {
    return source::file_system_of(path);
  }
};

}  // namespace

const ObjectStore& local_store() {
  static const LocalStore store;
  return store;
}

}  // namespace loaderscope::source
