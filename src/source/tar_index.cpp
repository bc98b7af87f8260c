// Index of the contents of shards.
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <set>

#include "loaderscope/errors.h"
#include "source/compression.h"
#include "source/index_builder.h"
#include "source/parallel.h"
#include "source/store.h"
#include "source/tar.h"

namespace loaderscope::source {
namespace {

constexpr std::size_t kLookEvery = 4096;  // members, whether the listing is to stop

// The samples of one shard, by the member that is decoded.
struct ShardListing {
  FolderStamp stamp;
  std::vector<TarMember> samples;
  std::int64_t left_out = 0;
  std::set<std::string> others;
  std::int32_t not_read = 0;  // members
  std::string why_not;        // the first of them
  std::string sparse;         // the first that is, and would be decoded

  void leave(const TarMember& member, std::string_view why) {
    if (not_read++ == 0) why_not = fmt::format("{} {}", member.name, why);
  }
};

ShardListing list_shard(const std::string& path, const GivenIndex& given, std::string_view wanted,
                        const SourceContext& context) {
  ShardListing listing;
  MemberChooser chooser(wanted);
  try {
    const std::unique_ptr<StoredObject> shard = store_of(path).open(path);
    listing.stamp = shard->stamp();
    if (const CompressionRow* row = compression_of(*shard)) throw ValueError(why_not_indexed(*row));
    const auto take = [&](TarMember&& member) {
      const bool is_taken = chooser.takes(member.name);
      if (chooser.repeats()) listing.leave(member, kRepeated);
      if (!is_taken) return;
      if (member.is_sparse) {
        if (listing.sparse.empty()) listing.sparse = member.name;
        return listing.leave(member, kSparse);
      }
      listing.samples.push_back(std::move(member));
    };
    if (auto members = members_of_given_index(given, *shard)) {
      for (TarMember& member : *members) take(std::move(member));
    } else {
      TarWalk walk(*shard);
      for (std::size_t seen = 1; auto member = walk.next(); ++seen) {
        take(std::move(*member));
        if (seen % kLookEvery == 0) context.throw_if_stopped();
      }
    }
  } catch (const ValueError& error) {
    throw add_place<RunError>(shown_text(path) + ": ", error);
  }
  chooser.end_shard();
  listing.left_out = chooser.left_out();
  listing.others = chooser.others();
  return listing;
}

StoredExtent stored(const TarMember& member) {
  return {static_cast<std::uint32_t>(member.begin / kTarBlock),
          static_cast<std::uint32_t>(std::min<Bytes>(member.size, StoredExtent::kMax))};
}

[[noreturn]] void fail_without_samples(const std::vector<std::string>& shards,
                                       const std::vector<ShardListing>& listings,
                                       std::string_view wanted) {
  for (std::size_t i = 0; i < shards.size(); ++i) {
    if (!listings[i].sparse.empty())
      throw RunError(
          fmt::format("{}: {} {}", shown_text(shards[i]), shown_text(listings[i].sparse), kSparse));
  }
  throw RunError(shown_text(shards.front()) + ": " +
                 without_samples(wanted, listings.front().others));
}

}  // namespace

Index index_shards(const std::vector<std::string>& shards, const std::vector<GivenIndex>& given,
                   std::string_view member, std::string_view identity,
                   const SourceContext& context) {
  std::vector<ShardListing> listings(shards.size());
  for_each_index(std::ssize(shards), "listing shards", context, [&](std::int64_t i) {
    const auto place = static_cast<std::size_t>(i);
    listings[place] = list_shard(shards[place], given[place], member, context);
  });
  IndexBuilder builder;
  for (std::uint32_t i = 0; i < shards.size(); ++i) {
    const std::uint32_t shard = builder.add_folder({i, "", 0, listings[i].stamp});
    for (const TarMember& sample : listings[i].samples) {
      if (sample.begin / kTarBlock > std::numeric_limits<std::uint32_t>::max())
        throw RunError(shown_text(shards[i]) + ": is larger than 2 TiB", "split it into shards");
      builder.add(shard, sample.name);
      builder.place_last(stored(sample));
    }
    builder.left_out += listings[i].left_out;
  }
  // Notes on shards with unread contents come after all shards: the number, and the reason.
  for (std::uint32_t i = 0; i < shards.size(); ++i) {
    if (listings[i].not_read > 0)
      builder.add_folder({i, listings[i].why_not, listings[i].not_read, {}});
  }
  if (builder.samples() == 0) fail_without_samples(shards, listings, member);
  return builder.finish(identity);
}

}  // namespace loaderscope::source
