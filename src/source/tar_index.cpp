// Index of the contents of shards.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cctype>
#include <limits>
#include <memory>
#include <set>
#include <span>

#include "base/image_formats.h"
#include "loaderscope/errors.h"
#include "source/compression.h"
#include "source/index.h"
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
    const std::unique_ptr<StoredObject> shard = find_store(path).open(path);
    listing.stamp = shard->stamp();
    if (const CompressionRow* row = detect_compression(*shard))
      throw ValueError(why_not_indexed(*row));
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

// Members of shards that are samples, and ends of shards.

namespace {

constexpr std::size_t kOthersNamed = 5;

// A tar file ends with blocks of zeros. A truncated file, or one whose writer died, mostly does
// not. For compressed files, reading shows it.
bool ends_as_a_tar(const std::string& path) {
  std::array<char, kTarBlock> last{};
  try {
    const std::unique_ptr<StoredObject> shard = find_store(path).open(path);
    const Bytes begin = std::max<Bytes>(shard->size() - std::ssize(last), 0);
    shard->read(begin, std::as_writable_bytes(std::span(last)));
    return std::all_of(last.begin(), last.end(), [](char byte) { return byte == '\0'; }) ||
           detect_compression(*shard) != nullptr;
  } catch (const ValueError&) {
    return true;  // reading it will report the fault
  }
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

void MemberChooser::end_sample() {
  if (!key_.empty() && !found_) ++left_out_;
  key_.clear();
  found_ = false;
  seen_.clear();
}

bool MemberChooser::takes(std::string_view member) {
  const std::optional<SampleName> name = sample_name(member);
  repeats_ = false;
  if (!name) return false;
  if (name->key != key_) {
    end_sample();
    key_ = name->key;
  }
  repeats_ = !seen_.insert(name->extension).second;
  if (repeats_) return false;
  const bool is_wanted =
      wanted_.empty() ? is_image_name("x." + name->extension) : name->extension == wanted_;
  if (is_wanted && !found_) return found_ = true;
  if (others_.size() < kOthersNamed) others_.insert(name->extension);
  return false;
}

std::string without_samples(std::string_view wanted, const std::set<std::string>& others) {
  if (others.empty()) return "is empty: no member of it is named as samples are, KEY.EXTENSION";
  return fmt::format(
      "holds no {} but {}; say which member of a sample is decoded: tar:PATH?member=EXTENSION",
      wanted.empty() ? "images" : shown_text(wanted), fmt::join(others, ", "));
}

std::string note_of_left_out(std::int64_t samples) {
  return fmt::format("{} of the shards {} no member to decode and {} left out",
                     plural(samples, "sample"), samples == 1 ? "has" : "have",
                     samples == 1 ? "is" : "are");
}

std::string note_of_cut(const std::vector<std::string>& shards, const SourceContext& context) {
  std::atomic<std::int64_t> cut{0}, first{std::ssize(shards)};
  for_each_index(std::ssize(shards), "looking at the shards' ends", context, [&](std::int64_t i) {
    if (ends_as_a_tar(shards[static_cast<std::size_t>(i)])) return;
    ++cut;
    std::int64_t before = first;
    while (i < before && !first.compare_exchange_weak(before, i)) {
    }
  });
  if (cut == 0) return "";
  const std::string which = shown_text(shards[static_cast<std::size_t>(first.load())]);
  if (shards.size() == 1)
    return "the shard ends without tar's end mark and may be cut short: " + which;
  return fmt::format("{} of {} {} without tar's end mark and may be cut short, first {}",
                     format_count(cut), plural(std::ssize(shards), "shard"),
                     cut == 1 ? "ends" : "end", which);
}

}  // namespace loaderscope::source
