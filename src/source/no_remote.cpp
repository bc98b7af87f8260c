// Of a build without libcurl.
#include "loaderscope/errors.h"
#include "source/readers.h"
#include "source/store.h"

namespace loaderscope::source {
namespace {

constexpr const char* kWhy = "built without libcurl (libcurl4-openssl-dev), libssl-dev or expat.";

class NoStore final : public ObjectStore {
 public:
  PathFacts look_at(const std::string&) const override {
    return {PathFacts::Kind::nothing, std::string("this program is ") + kWhy, 0, {}};
  }
  std::unique_ptr<StoredObject> open(const std::string&) const override {
    throw ValueError(std::string("cannot be opened: this program is ") + kWhy);
  }
  FolderListing list(const std::string& folder) const override { throw CannotList(folder, kWhy); }
  std::unique_ptr<WholeShard> open_whole(const std::string&, const AccessOptions&,
                                         const ReadCounts&) const override {
    throw SampleError(SampleError::Kind::unsupported, kWhy);
  }
  FileSystemKind file_system_of(const std::string&) const override { return {}; }
};

}  // namespace

std::optional<std::string> why_no_servers() { return kWhy; }

void set_manners(const AccessOptions&) {}

RequestsOfOpening requests_of_opening(const RequestsOfOpening&) { return {}; }

const ObjectStore& remote_store() {
  static const NoStore store;
  return store;
}

std::unique_ptr<SampleReader> make_http_reader(const Access&) {
  throw RunError(std::string("objects of servers: this program is ") + kWhy);
}

}  // namespace loaderscope::source
