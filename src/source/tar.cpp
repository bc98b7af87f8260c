// Shards as a source.
#include "source/tar.h"

#include <fmt/format.h>

#include <algorithm>

#include "loaderscope/errors.h"
#include "source/access.h"
#include "source/index_cache.h"
#include "source/named_files.h"
#include "source/store.h"
#include "source/tar_stream.h"

namespace loaderscope::source {
namespace {

// Raised whenever the same shards would be listed in another way.
constexpr std::string_view kTarRules = "2";

class TarSource final : public ExtentSource {
 public:
  TarSource(const SourceOptions& options, std::vector<std::string> shards, Index index,
            std::vector<std::string> notes)
      : ExtentSource(options), shards_(std::move(shards)), index_(std::move(index)) {
    for (std::string& note : notes) {
      if (!note.empty()) add_note(std::move(note));
    }
    if (index_.left_out() > 0) add_note(note_of_left_out(index_.left_out()));
  }

  std::int64_t size() const override { return index_.samples(); }
  std::string describe(std::int64_t sample) const override {
    std::string name;
    const auto shard = static_cast<std::size_t>(index_.file(sample, name));
    return shards_[shard] + ": " + name;
  }

  std::int64_t objects() const override { return std::ssize(shards_); }
  Extent extent(std::int64_t sample) const override {
    thread_local std::string name;
    const StoredExtent where = index_.extent(sample).value_or(StoredExtent{});
    return {index_.file(sample, name), Bytes{where.begin} * kTarBlock, where.bytes};
  }
  void get_path(std::int64_t object, std::string& path) const override {
    path = shards_[static_cast<std::size_t>(object)];
  }
  std::vector<std::string> roots() const override { return shards_; }
  std::uint64_t version_stamp(std::int64_t object) const override {
    return index_.folder(object).stamp.inode;
  }

 private:
  std::vector<std::string> shards_;
  Index index_;
};

// "" where all members are read.
std::string note_of_what_is_not_read(const std::vector<std::string>& shards, const Index& index) {
  std::int64_t members = 0;
  for (std::int64_t i = std::ssize(shards); i < index.folders(); ++i)
    members += index.folder(i).label;
  if (members == 0) return "";
  const FolderEntry first = index.folder(std::ssize(shards));
  return fmt::format("{} of the shards {} not read, first of {}: {}", plural(members, "member"),
                     members == 1 ? "is" : "are",
                     shown_text(shards[std::min<std::size_t>(first.root, shards.size() - 1)]),
                     shown_text(std::string(first.relative)));
}

// "" where the lists say what the shards hold.
std::string note_of_list(const NamedShards& named, const Index& index) {
  const std::int64_t there = index.samples() + index.left_out();
  if (named.list.empty() || named.samples == there) return "";
  return fmt::format("{} says that its shards hold {}, and they hold {}", shown_text(named.list),
                     plural(named.samples, "sample"), format_count(there));
}

}  // namespace

}  // namespace loaderscope::source

namespace loaderscope {

std::unique_ptr<Source> open_tar(const SourceOptions& options, const SourceContext& context) {
  const bool streams = source::count_parameter(options.words, "stream", 0, 0) > 0;
  if (streams) return source::open_tar_stream(options, context);
  if (options.words.contains("shuffle"))
    throw UsageError("data: shuffle is the buffer of a stream",
                     "give stream=1 with it, or --shuffle");
  source::NamedShards named = source::named_shards(options.paths);
  std::vector<std::string>& shards = named.shards;
  std::string member = source::text_parameter(options.words, options.classes ? "label" : "member");
  if (options.classes && member.empty()) member = "cls";
  std::string key = fmt::format("tar {} {}:{}", source::kTarRules, member.size(), member);
  for (const std::string& shard : shards) source::append_path(key, shard);
  std::vector<source::GivenIndex> given;
  source::Index index = source::cached_index(options, key, key, shards, 0, context, [&] {
                          given = source::find_given_indexes(shards, context);
                          return source::index_shards(shards, given, member, key, context);
                        }).index;
  if (given.empty() && !source::is_remote(shards.front()))
    given = source::find_given_indexes(shards, context);
  std::vector<std::string> notes = {
      source::note_of_cut(shards, context), source::note_of_old_indexes(given),
      source::note_of_what_is_not_read(shards, index), source::note_of_list(named, index)};
  auto tar = std::make_unique<source::TarSource>(options, std::move(shards), std::move(index),
                                                 std::move(notes));
  tar->settle_access();
  return tar;
}

}  // namespace loaderscope
