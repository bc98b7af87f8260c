// Where objects lie: in files of this machine, or at a server. The scheme of a path says which.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "source/file_system.h"
#include "source/folder_listing.h"
#include "source/options.h"
#include "source/shard_bytes.h"

namespace loaderscope::source {

class ReadCounts;

// An object that is looked at before workers read it. Reading throws ValueError, as it continues
// "PATH: ".
class StoredObject : public ShardBytes {
 public:
  virtual Bytes size() const = 0;
  virtual FolderStamp stamp() const = 0;
};

struct PathFacts {
  enum class Kind { nothing, object, folder, other };
  Kind kind = Kind::nothing;
  std::string why_nothing;  // "No such file or directory"
  Bytes size = 0;           // of an object
  FolderStamp stamp;
};

// Safe to call from any thread.
class ObjectStore {
 public:
  virtual ~ObjectStore() = default;
  virtual PathFacts look_at(const std::string& path) const = 0;
  // Throws ValueError, as it continues "PATH: ", with what to do about it.
  virtual std::unique_ptr<StoredObject> open(const std::string& path) const = 0;
  // Throws CannotList, or RunError where the machine had too little of something.
  virtual FolderListing list(const std::string& folder) const = 0;
  // For one that reads all of it in its order. Throws SampleError. The counts outlive it.
  virtual std::unique_ptr<WholeShard> open_whole(const std::string& path,
                                                 const AccessOptions& options,
                                                 const ReadCounts& counts) const = 0;
  virtual FileSystemKind file_system_of(const std::string& path) const = 0;
};

// "s3://bucket/key", "https://host/path", and "s3+https://host//bucket/key", which is a store that
// speaks S3 elsewhere than the environment says.
bool is_remote(std::string_view path);
// Of s3://bucket/key. Throws ValueError.
std::string at_endpoint(std::string_view path, std::string_view endpoint);
std::optional<std::string> why_no_servers();  // nothing where this build can ask them

// All of an object that is text. Throws ValueError, as it continues "PATH: ", where it has more
// bytes than `most` or cannot be read.
std::string text_of_object(const std::string& path, Bytes most);

// How patient this process is with servers while it opens data sets.
void set_manners(const AccessOptions& options);
// Requests that this process made for what no reader reads: listings, headers, indexes.
struct RequestsOfOpening {
  std::int64_t sent = 0;
  std::int64_t alone = 0;    // those that no other ran beside
  double alone_least_s = 0;  // of the shortest of the last of these, to its first byte
};
RequestsOfOpening requests_of_opening(const RequestsOfOpening& since = {});

const ObjectStore& local_store();
const ObjectStore& remote_store();  // where this build has none, one that refuses
const ObjectStore& store_of(std::string_view path);

}  // namespace loaderscope::source
