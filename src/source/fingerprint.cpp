#include "source/fingerprint.h"

#include <algorithm>
#include <string>

#include "base/hash.h"
#include "source/store.h"

namespace loaderscope::source {
namespace {

constexpr std::int64_t kLooksAt = 1024;  // samples
constexpr int kBits = 40;

class Digest {
 public:
  void add(std::int64_t value) { state_ = mixed(state_, value); }
  void add(const std::string& text) {
    for (const char c : text) add(static_cast<std::int64_t>(c));
  }
  std::int64_t value() const { return static_cast<std::int64_t>(state_ >> (64 - kBits)); }

 private:
  std::uint64_t state_ = 0;
};

void add_extent(const Extents& extents, std::int64_t sample, Digest& to) {
  const Extent extent = extents.extent(sample);
  to.add(extent.offset);
  to.add(extent.length);
  std::string path;
  extents.path_of(extent.object, path);
  if (!is_remote(path)) to.add(local_store().look_at(path).size);
}

}  // namespace

std::int64_t fingerprint_of(const Source& source) {
  const std::int64_t samples = source.size();
  Digest digest;
  digest.add(samples);
  for (std::int64_t i = 0; i < std::min(samples, kLooksAt); ++i) {
    const std::int64_t sample = samples <= kLooksAt ? i : i * (samples / kLooksAt);
    const std::string place = source.describe(sample);
    digest.add(place.substr(place.rfind('/') + 1));  // wherever its folder lies
    if (source.extents() != nullptr) add_extent(*source.extents(), sample, digest);
  }
  return digest.value();
}

}  // namespace loaderscope::source
