// Stores of objects: files of this machine, or a server. The scheme of a path selects the store.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "source/options.h"
#include "source/shard_bytes.h"
#include "source/walk.h"

namespace loaderscope::source {

// File system of the data, as far as it affects caching.
struct FileSystemKind {
  std::string_view name;     // "NFS", ...; "" for an ordinary local one
  bool network = false;      // a server has a cache of its own, which cannot be observed
  bool memory_only = false;  // files exist only in the page cache
  bool remote = false;       // objects of a server, which no page cache holds
};

FileSystemKind find_file_system(const std::string& path);
FileSystemKind find_file_system(int fd);
FileSystemKind file_system_of_type(long magic);  // statfs(2)'s f_type

class ReadCounts;

// An object that is inspected before workers read it. Reading throws ValueError, which continues
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
  Bytes size = 0;           // size of an object
  FolderStamp stamp;
};

// Safe to call from any thread.
class ObjectStore {
 public:
  virtual ~ObjectStore() = default;
  virtual PathFacts look_at(const std::string& path) const = 0;
  // Throws ValueError, which continues "PATH: " and contains the remedy.
  virtual std::unique_ptr<StoredObject> open(const std::string& path) const = 0;
  // Throws CannotList, or RunError if a resource of the machine ran out.
  virtual FolderListing list(const std::string& folder) const = 0;
  // Opens an object to read all of it in order. Throws SampleError. The counts outlive the result.
  virtual std::unique_ptr<WholeShard> open_whole(const std::string& path,
                                                 const AccessOptions& options,
                                                 const ReadCounts& counts) const = 0;
  virtual FileSystemKind find_file_system(const std::string& path) const = 0;
};

// Returns true for "s3://bucket/key", "https://host/path", and "s3+https://host//bucket/key". The
// last form is an S3 store at another address than the environment's.
bool is_remote(std::string_view path);
// Returns the path of s3://bucket/key at an endpoint. Throws ValueError.
std::string at_endpoint(std::string_view path, std::string_view endpoint);
std::optional<std::string> why_no_servers();  // empty: this build can use servers

// Returns the whole text of an object. Throws ValueError, which continues "PATH: ", if it has more
// bytes than `most`, or cannot be read.
std::string text_of_object(const std::string& path, Bytes most);

// Sets the timeouts for servers while this process opens data sets.
void set_manners(const AccessOptions& options);
// Requests that this process made for what no reader reads: listings, headers, indexes.
struct RequestsOfOpening {
  std::int64_t sent = 0;
  std::int64_t alone = 0;    // requests without another one in flight
  double alone_least_s = 0;  // shortest time to a first byte of the last such requests
};
RequestsOfOpening requests_of_opening(const RequestsOfOpening& since = {});

const ObjectStore& local_store();
const ObjectStore& remote_store();  // a build without servers has one that refuses
const ObjectStore& find_store(std::string_view path);

}  // namespace loaderscope::source
