#include "source/store.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <span>
#include <system_error>

#include "base/failure_text.h"
#include "base/fd.h"
#include "loaderscope/errors.h"
#include "source/extent_opener.h"
#include "source/read_counts.h"

namespace loaderscope::source {
namespace {

constexpr std::array<std::string_view, 5> kSchemes = {"https://", "http://", "s3://", "s3+https://",
                                                      "s3+http://"};
constexpr std::string_view kS3 = "s3://";

}  // namespace

bool is_remote(std::string_view path) {
  return std::any_of(kSchemes.begin(), kSchemes.end(),
                     [&](std::string_view scheme) { return path.starts_with(scheme); });
}

std::string at_endpoint(std::string_view path, std::string_view endpoint) {
  while (endpoint.ends_with('/')) endpoint.remove_suffix(1);
  const bool is_server = endpoint.starts_with("http://") || endpoint.starts_with("https://");
  if (!path.starts_with(kS3) || !is_server)
    throw ValueError("endpoint: expected s3://BUCKET/KEY?endpoint=http://HOST:PORT");
  return "s3+" + std::string(endpoint) + "//" + std::string(path.substr(kS3.size()));
}

const ObjectStore& find_store(std::string_view path) {
  return is_remote(path) ? remote_store() : local_store();
}

std::string text_of_object(const std::string& path, Bytes most) {
  const auto object = find_store(path).open(path);
  if (object->size() > most)
    throw ValueError("has more than the " + format_size(static_cast<double>(most)) +
                     " that are read of it");
  std::string text(static_cast<std::size_t>(object->size()), '\0');
  text.resize(object->read(0, std::as_writable_bytes(std::span(text))));
  return text;
}

namespace {

struct Known {
  std::uint32_t magic;
  FileSystemKind kind;
};

constexpr Known kKnown[] = {
    {0x00006969, {"NFS", true, false}},       {0x0bd00bd0, {"Lustre", true, false}},
    {0x47504653, {"GPFS", true, false}},      {0x65735546, {"FUSE", true, false}},
    {0xff534d42, {"CIFS", true, false}},      {0xfe534d42, {"SMB", true, false}},
    {0x0000517b, {"SMB", true, false}},       {0x00c36400, {"Ceph", true, false}},
    {0x19830326, {"BeeGFS", true, false}},    {0x01021997, {"9P", true, false}},
    {0x5346414f, {"AFS", true, false}},       {0xaad7aaea, {"PanFS", true, false}},
    {0x01021994, {"tmpfs", false, true}},     {0x858458f6, {"ramfs", false, true}},
    {0x958458f6, {"hugetlbfs", false, true}},
};

}  // namespace

FileSystemKind file_system_of_type(long magic) {
  for (const Known& known : kKnown) {
    if (known.magic == static_cast<std::uint32_t>(magic)) return known.kind;
  }
  return {};
}

FileSystemKind find_file_system(const std::string& path) {
  struct statfs facts {};
  if (::statfs(path.c_str(), &facts) != 0) return {};
  return file_system_of_type(facts.f_type);
}

FileSystemKind find_file_system(int fd) {
  struct statfs facts {};
  if (::fstatfs(fd, &facts) != 0) return {};
  return file_system_of_type(facts.f_type);
}

// Files of this machine.

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

  FileSystemKind find_file_system(const std::string& path) const override {
    return source::find_file_system(path);
  }
};

}  // namespace

const ObjectStore& local_store() {
  static const LocalStore store;
  return store;
}

}  // namespace loaderscope::source
