// Replacement for a build without libcurl.
#include "built_with.h"
#include "loaderscope/errors.h"
#include "source/readers.h"
#include "source/store.h"

namespace loaderscope::source {
namespace {

std::string why() { return describe_missing(built_with::kCurl) + "."; }

class NoStore final : public ObjectStore {
 public:
  PathFacts look_at(const std::string&) const override {
    return {PathFacts::Kind::nothing, "this program is " + why(), 0, {}};
  }
  std::unique_ptr<StoredObject> open(const std::string&) const override {
    throw ValueError("cannot be opened: this program is " + why());
  }
  FolderListing list(const std::string& folder) const override { throw CannotList(folder, why()); }
  std::unique_ptr<WholeShard> open_whole(const std::string&, const AccessOptions&,
                                         const ReadCounts&) const override {
    throw SampleError(SampleError::Kind::unsupported, why());
  }
  FileSystemKind find_file_system(const std::string&) const override { return {}; }
};

}  // namespace

std::optional<std::string> why_no_servers() { return why(); }

void set_manners(const AccessOptions&) {}

RequestsOfOpening requests_of_opening(const RequestsOfOpening&) { return {}; }

const ObjectStore& remote_store() {
  static const NoStore store;
  return store;
}

std::unique_ptr<SampleReader> make_http_reader(const Access&) {
  throw RunError("objects of servers: this program is " + why());
}

}  // namespace loaderscope::source
