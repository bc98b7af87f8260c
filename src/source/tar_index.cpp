// What the shards hold.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <limits>
#include <set>
#include <system_error>

#include "base/fd.h"
#include "base/shortage.h"
#include "loaderscope/errors.h"
#include "source/folder_listing.h"
#include "source/index_builder.h"
#include "source/parallel.h"
#include "source/tar.h"

namespace loaderscope::source {
namespace {

// The samples of one shard, by the member that is decoded.
struct ShardListing {
  FolderStamp stamp;
  std::vector<TarMember> samples;
  std::int64_t left_out = 0;     // samples without such a member
  std::set<std::string> others;  // extensions of members that are not decoded, a few
};

class ShardLister {
 public:
  ShardLister(std::string_view wanted, ShardListing& to) : wanted_(wanted), to_(to) {}

  void add(TarMember member) {
    const std::optional<SampleName> name = sample_name(member.name);
    if (!name) return;
    if (name->key != key_) {
      end_sample();
      key_ = name->key;
    }
    if (!found_ && is_wanted(name->extension)) {
      found_ = std::move(member);
    } else if (to_.others.size() < kOthersNamed) {
      to_.others.insert(name->extension);
    }
  }
  void end_sample() {
    if (key_.empty()) return;
    if (found_) {
      to_.samples.push_back(std::move(*found_));
    } else {
      ++to_.left_out;
    }
    found_.reset();
  }

 private:
  static constexpr std::size_t kOthersNamed = 5;
  bool is_wanted(const std::string& extension) const {
    return wanted_.empty() ? is_image_name("x." + extension) : extension == wanted_;
  }

  std::string_view wanted_;
  ShardListing& to_;
  std::string key_;
  std::optional<TarMember> found_;
};

ShardListing list_shard(const std::string& path, std::string_view wanted) {
  const Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat facts {};
  if (fd < 0 || ::fstat(fd, &facts) != 0) {
    const std::string remedy = shortage_remedy(errno);
    throw RunError(fmt::format("{}: cannot be opened: {}; {}", shown_text(path),
                               std::generic_category().message(errno),
                               remedy.empty() ? "check the path given with --data" : remedy));
  }
  ShardListing listing;
  listing.stamp = stamp_of(facts);
  ShardLister lister(wanted, listing);
  TarWalk walk(fd);
  try {
    while (auto member = walk.next()) lister.add(std::move(*member));
  } catch (const ValueError& error) {
    throw RunError(shown_text(path) + ": " + error.what());
  }
  lister.end_sample();
  return listing;
}

StoredExtent stored(const TarMember& member) {
  return {static_cast<std::uint32_t>(member.begin / StoredExtent::kUnit),
          static_cast<std::uint32_t>(std::min<Bytes>(member.size, StoredExtent::kMost))};
}

[[noreturn]] void fail_without_samples(const std::string& shard, std::string_view wanted,
                                       const ShardListing& first) {
  throw RunError(fmt::format(
      "{}: holds no {}{}; say which member of a sample is decoded: tar:PATH?member=EXTENSION",
      shown_text(shard), wanted.empty() ? "images" : shown_text(wanted),
      first.others.empty() ? "" : fmt::format(" but {}", fmt::join(first.others, ", "))));
}

}  // namespace

// "__" begins names that are about the shard.
std::optional<SampleName> sample_name(std::string_view member) {
  for (std::size_t at = 0; (at = member.find("__", at)) != member.npos; ++at) {
    const auto end = member.find("__", at + 2);
    const auto slash = member.find('/', at + 2);
    const bool closes =
        end != member.npos && end < slash && (end + 2 == member.size() || member[end + 2] == '/');
    if (closes) return std::nullopt;
  }
  const auto slash = member.rfind('/');
  const std::size_t base = slash == member.npos ? 0 : slash + 1;
  const auto dot = member.find('.', base);
  if (dot == member.npos || dot == base) return std::nullopt;
  std::string extension(member.substr(dot + 1));
  std::transform(extension.begin(), extension.end(), extension.begin(),
                 [](unsigned char letter) { return static_cast<char>(std::tolower(letter)); });
  return SampleName{member.substr(0, dot), std::move(extension)};
}

Index index_shards(const std::vector<std::string>& shards, std::string_view member,
                   std::string_view identity, const SourceContext& context) {
  std::vector<ShardListing> listings(shards.size());
  for_each_index(std::ssize(shards), "listing shards", context, [&](std::int64_t i) {
    const auto place = static_cast<std::size_t>(i);
    listings[place] = list_shard(shards[place], member);
  });
  IndexBuilder builder;
  for (std::uint32_t i = 0; i < shards.size(); ++i) {
    const std::uint32_t shard = builder.add_folder({i, "", 0, listings[i].stamp});
    for (const TarMember& sample : listings[i].samples) {
      if (sample.begin / StoredExtent::kUnit > std::numeric_limits<std::uint32_t>::max())
        throw RunError(shown_text(shards[i]) + ": is larger than 2 TiB; split it into shards");
      builder.add(shard, sample.name);
      builder.place_last(stored(sample));
    }
    builder.left_out += listings[i].left_out;
  }
  if (builder.samples() == 0) fail_without_samples(shards.front(), member, listings.front());
  return builder.finish(identity);
}

}  // namespace loaderscope::source
