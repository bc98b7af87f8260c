// Shards: tar files of samples, read by an index in any order, or as streams.
//
// Names define the samples, as in WebDataset: consecutive members that share the name up to the
// first dot are one sample ("n01/0003.jpg", "n01/0003.cls"). One member of it is decoded: the first
// image, or the one of ?member=.
#pragma once

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "loaderscope/source.h"
#include "source/index.h"
#include "source/options.h"
#include "source/shard_bytes.h"

namespace loaderscope::source {

inline constexpr std::string_view kTarSuffixes[] = {".tar", ".tar.gz", ".tgz", ".tar.zst",
                                                    ".tar.lz4"};

inline constexpr Bytes kTarBlock = 512;  // alignment of members

struct TarMember {
  std::string name;
  Bytes begin = 0, size = 0;  // place of its data
  bool is_sparse = false;     // data begins with a map of the holes
};

// Walks the regular files of a shard.
class TarWalk {
 public:
  explicit TarWalk(ShardBytes& shard) : shard_(shard) {}
  // Returns nothing at the end. Throws ValueError, which continues "PATH: ", if it is not a tar.
  std::optional<TarMember> next();

 private:
  struct Header;
  bool read_header(Header& header);
  std::string read_text(Bytes size);
  void skip_sparse_map(const Header& header);
  [[noreturn]] void fail(const std::string& why) const;

  ShardBytes& shard_;
  Bytes at_ = 0;
};

// Key of a sample, and the lower-case extension of the member. Nothing for names that belong to no
// sample.
struct SampleName {
  std::string_view key;
  std::string extension;
};
std::optional<SampleName> sample_name(std::string_view member);

// Chooses the members of one shard that are decoded, in their order: one of each sample. It is the
// first member with the wanted extension; "": the first image.
class MemberChooser {
 public:
  explicit MemberChooser(std::string_view wanted) : wanted_(wanted) {}

  bool takes(std::string_view member);
  // True if the last member repeats an extension of its sample. webdataset fails then.
  bool repeats() const { return repeats_; }
  void end_shard() { end_sample(); }
  std::int64_t left_out() const { return left_out_; }  // samples without such a member
  // Some extensions of members that are not decoded.
  const std::set<std::string>& others() const { return others_; }

 private:
  void end_sample();

  std::string_view wanted_;
  std::string key_;
  bool found_ = false, repeats_ = false;
  std::unordered_set<std::string> seen_;  // extensions of the sample so far
  std::int64_t left_out_ = 0;
  std::set<std::string> others_;
};

class StoredObject;

// An index that DALI's wds2idx has written next to a shard.
struct GivenIndex {
  std::string path;     // "": there is none
  bool is_old = false;  // the shard has changed since
};
GivenIndex find_given_index(const std::string& shard);
// Throws ValueError.
std::vector<TarMember> parse_given_index(std::string_view text, Bytes shard_bytes);
// Returns one index per shard. If a server has none for the first shard, the others are not
// requested.
std::vector<GivenIndex> find_given_indexes(const std::vector<std::string>& shards,
                                           const SourceContext& context);
// Returns nothing if the index is missing or old, or if it does not match the shard as far as can
// be checked.
std::optional<std::vector<TarMember>> members_of_given_index(const GivenIndex& given,
                                                             StoredObject& shard);
std::string note_of_old_indexes(const std::vector<GivenIndex>& given);  // "" where none is

// Returns text after "PATH: ": the shard has no members to decode, only `others`.
std::string without_samples(std::string_view wanted, const std::set<std::string>& others);
std::string note_of_left_out(std::int64_t samples);
// Reasons why members are not read, after their name in a message.
inline constexpr std::string_view kRepeated =
    "is the second of its name in one sample, where webdataset ends with an error";
inline constexpr std::string_view kSparse =
    "is stored sparse (tar -S), which is not read; write the shard without";
// Returns a note on shards without tar's end mark; "" if all have one.
std::string note_of_cut(const std::vector<std::string>& shards, const SourceContext& context);

// `given` has one index per shard. `member` is the extension to decode; "": the first image. Throws
// RunError.
Index index_shards(const std::vector<std::string>& shards, const std::vector<GivenIndex>& given,
                   std::string_view member, std::string_view identity,
                   const SourceContext& context);

// Shards of --data: files, and the entries of a JSON list of WebDataset's `wids`.
struct NamedShards {
  std::vector<std::string> shards;
  std::string list;          // "": no list was given
  std::int64_t samples = 0;  // number of samples in the lists
};
// Throws RunError.
NamedShards named_shards(const std::vector<std::string>& paths);

}  // namespace loaderscope::source

namespace loaderscope {

// Throws RunError. Throws UsageError for parameters that contradict each other.
std::unique_ptr<Source> open_tar(const SourceOptions& options, const SourceContext& context);

}  // namespace loaderscope
