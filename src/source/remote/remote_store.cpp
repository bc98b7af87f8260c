// Objects of servers: by http, and of stores that speak S3.
#include <fmt/format.h>

#include <algorithm>
#include <mutex>
#include <set>

#include "base/image_formats.h"
#include "source/read_counts.h"
#include "source/remote/http_response.h"
#include "source/remote/location.h"
#include "source/remote/remote_object.h"
#include "source/remote/signature.h"
#include "source/store.h"

namespace loaderscope::source {
namespace {

constexpr std::size_t kMaxListed = std::size_t{50} << 20;  // names of one folder

class ServerLimits {
 public:
  AccessOptions get() const {
    const std::lock_guard lock(mutex_);
    return options_;
  }
  void set(const AccessOptions& options) {
    const std::lock_guard lock(mutex_);
    options_.request_timeout = options.request_timeout;
    options_.stop_signal = options.stop_signal;
  }

 private:
  mutable std::mutex mutex_;
  AccessOptions options_;
};

ServerLimits& manners() {
  static ServerLimits all;
  return all;
}

// Counts of requests that belong to no reader.
const ReadCounts& opening_counts() {
  static const ReadCounts counts;
  return counts;
}

// An object with its own options.
class OwnObject final : public StoredObject {
 public:
  explicit OwnObject(const std::string& path)
      : options_(manners().get()), object_(path, options_, opening_counts()) {}
  std::size_t read(Bytes begin, std::span<std::byte> to) override {
    return object_.read(begin, to);
  }
  Bytes size() const override { return object_.size(); }
  FolderStamp stamp() const override { return object_.stamp(); }

 private:
  AccessOptions options_;
  RemoteObject object_;
};

bool names_folder(const std::string& path) {
  const Location location = locate(path);
  return path.ends_with('/') || (location.is_s3 && location.key.empty());
}

// The bucket itself, asked for what begins so.
Location listing_location(const Location& root, const std::string& prefix,
                          const std::string& continuation, bool is_glimpse) {
  Location where = locate(at_endpoint("s3://" + root.bucket, root.endpoint));
  if (!continuation.empty())
    where.query = "continuation-token=" + percent_encoded(continuation, false) + "&";
  where.query += "delimiter=%2F&list-type=2";
  if (is_glimpse) where.query += "&max-keys=1";
  where.query += "&prefix=" + percent_encoded(prefix, false);
  return where;
}

class Lister {
 public:
  explicit Lister(const std::string& folder)
      : folder_(folder),
        where_(locate(folder)),
        options_(manners().get()),
        fetcher_(options_, opening_counts()) {
    prefix_ = where_.key;
    if (!prefix_.empty() && !prefix_.ends_with('/')) prefix_ += '/';
  }

  // Throws SampleError or ValueError.
  S3Listing page(const std::string& continuation, bool is_glimpse) {
    Fetch fetch;
    fetch.aim(listing_location(where_, prefix_, continuation, is_glimpse));
    fetch_now(fetcher_, fetch);
    const auto bytes = fetch.bytes();
    return parse_s3_listing({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  }

  FolderListing all() {
    FolderListing listing;
    listing.device = 1;
    listing.stamp = {std::hash<std::string>()(folder_) | 1u, 0};
    std::string continuation;
    std::size_t names = 0;
    do {
      const S3Listing part = page(continuation, false);
      for (const std::string& key : part.keys) names += add_key(listing, key);
      for (const std::string& prefix : part.prefixes) add_folder(listing, prefix);
      if (part.continuation == continuation && !continuation.empty())
        throw ValueError("the server lists the same names again and again");
      continuation = part.continuation;
      if (names >= kMaxListed && !continuation.empty())
        throw ValueError("holds more than 50 MiB of names, more than are listed",
                         "name a folder within it, or pack its images into shards");
    } while (!continuation.empty());
    listing.images.sort();
    return listing;
  }

 private:
  std::string_view below(const std::string& key) const {
    return key.starts_with(prefix_) ? std::string_view(key).substr(prefix_.size())
                                    : std::string_view();
  }

  std::size_t add_key(FolderListing& listing, const std::string& key) const {
    const std::string_view name = below(key);
    if (name.empty() || name.starts_with('.') || name.find('/') != name.npos) return 0;
    (is_image_name(name) ? listing.images : listing.others).add(name);
    return name.size();
  }

  void add_folder(FolderListing& listing, const std::string& prefix) const {
    std::string_view name = below(prefix);
    if (name.ends_with('/')) name.remove_suffix(1);
    const bool is_plain = !name.empty() && !name.starts_with('.') && name.find('/') == name.npos;
    if (is_plain) listing.folders.push_back({std::string(name), false});
  }

  std::string folder_;
  Location where_;
  AccessOptions options_;
  Fetcher fetcher_;
  std::string prefix_;
};

class RemoteStore final : public ObjectStore {
 public:
  PathFacts look_at(const std::string& path) const override {
    using Found = PathFacts::Kind;
    try {
      if (names_folder(path)) return {Found::folder, "", 0, {}};
      return look_at_object(path);
    } catch (const ValueError& error) {
      return {Found::nothing, error.what(), 0, {}};
    } catch (const SampleError& error) {
      return {Found::nothing, error.what(), 0, {}};
    }
  }

  std::unique_ptr<StoredObject> open(const std::string& path) const override {
    return std::make_unique<OwnObject>(path);
  }

  FolderListing list(const std::string& folder) const override {
    try {
      if (!locate(folder).is_s3)
        throw ValueError("web servers list no files: name them, as in {000..127}, or with --index");
      return Lister(folder).all();
    } catch (const ValueError& error) {
      throw CannotList(folder, std::string(error.sentence()), std::string(error.hint()));
    } catch (const SampleError& error) {
      throw CannotList(folder, std::string(error.sentence()), std::string(error.hint()));
    }
  }

  std::unique_ptr<WholeShard> open_whole(const std::string& path, const AccessOptions& options,
                                         const ReadCounts& counts) const override {
    return std::make_unique<WholeObject>(path, options, counts);
  }

  FileSystemKind find_file_system(const std::string& path) const override {
    return {is_of_s3(path) ? "S3" : "HTTP", true, false, true};
  }

 private:
  // Requests the first byte, which also checks the access. A server without ranges reports the
  // object's size, too.
  static PathFacts look_at_object(const std::string& path) {
    using Found = PathFacts::Kind;
    const AccessOptions options = manners().get();
    Fetcher fetcher(options, opening_counts());
    Fetch fetch;
    fetch.aim(path, 0, 1);
    fetcher.start(fetch);
    fetcher.wait(fetch);
    const HttpResponse& answer = fetch.answer();
    const bool is_empty = answer.status == 416 && answer.object_bytes == Bytes{0};
    if (answer.status / 100 == 2 || is_empty) {
      const Bytes size = answer.object_bytes.value_or(answer.length.value_or(0));
      return {Found::object, "", size, answer.stamp()};
    }
    if (answer.status == 404 && locate(path).is_s3) {
      const S3Listing glimpse = Lister(path).page("", true);
      if (!glimpse.keys.empty() || !glimpse.prefixes.empty()) return {Found::folder, "", 0, {}};
    }
    return {Found::nothing, fetch.error() ? fetch.error()->what() : "no answer", 0, {}};
  }
};

}  // namespace

RequestsOfOpening requests_of_opening(const RequestsOfOpening& since) {
  const ReadCounts& counts = opening_counts();
  return {counts.asked() - since.sent, counts.alone() - since.alone,
          counts.shortest_alone(since.alone)};
}

void set_manners(const AccessOptions& options) { manners().set(options); }

const ObjectStore& remote_store() {
  static const RemoteStore store;
  return store;
}

}  // namespace loaderscope::source
