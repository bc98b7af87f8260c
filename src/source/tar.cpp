// Shards as a source.
#include "source/tar.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <atomic>

#include "base/fd.h"
#include "loaderscope/errors.h"
#include "source/access.h"
#include "source/index_cache.h"
#include "source/named_files.h"
#include "source/parallel.h"

namespace loaderscope::source {
namespace {

// Raised whenever the same shards would be listed in another way.
constexpr std::string_view kTarRules = "1";

// A tar file ends with blocks of zeros: one that was cut, or whose writer died, mostly does not.
bool ends_as_a_tar(const std::string& path) {
  std::array<char, StoredExtent::kUnit> last{};
  const Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat facts {};
  if (fd < 0 || ::fstat(fd, &facts) != 0) return true;  // whoever reads it will say why
  const off_t begin = std::max<off_t>(facts.st_size - static_cast<off_t>(last.size()), 0);
  if (::pread(fd, last.data(), last.size(), begin) < 0) return true;
  return std::all_of(last.begin(), last.end(), [](char byte) { return byte == '\0'; });
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
                     show_count(cut), plural(std::ssize(shards), "shard"),
                     cut == 1 ? "ends" : "end", which);
}

class TarSource final : public ExtentSource {
 public:
  TarSource(const SourceOptions& options, std::vector<std::string> shards, Index index,
            std::string note)
      : ExtentSource(options), shards_(std::move(shards)), index_(std::move(index)) {
    if (!note.empty()) add_note(std::move(note));
    if (index_.left_out() > 0)
      add_note(fmt::format("{} of the shards {} no member to decode and {} left out",
                           plural(index_.left_out(), "sample"),
                           index_.left_out() == 1 ? "has" : "have",
                           index_.left_out() == 1 ? "is" : "are"));
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
    return {index_.file(sample, name), Bytes{where.begin} * StoredExtent::kUnit, where.bytes};
  }
  void path_of(std::int64_t object, std::string& path) const override {
    path = shards_[static_cast<std::size_t>(object)];
  }
  std::vector<std::string> roots() const override { return shards_; }

 private:
  std::vector<std::string> shards_;
  Index index_;
};

}  // namespace

}  // namespace loaderscope::source

namespace loaderscope {

std::unique_ptr<Source> open_tar(const SourceOptions& options, const SourceContext& context) {
  std::vector<std::string> shards = source::named_files(options.paths, ".tar");
  const auto word = options.words.find("member");
  const std::string member = word == options.words.end() ? "" : word->second;
  std::string key = fmt::format("tar {} {}:{}", source::kTarRules, member.size(), member);
  for (const std::string& shard : shards) source::append_path(key, shard);
  source::Index index = source::cached_index(options, key, key, shards, 0, context, [&] {
                          return source::index_shards(shards, member, key, context);
                        }).index;
  std::string note = source::note_of_cut(shards, context);
  auto tar = std::make_unique<source::TarSource>(options, std::move(shards), std::move(index),
                                                 std::move(note));
  tar->settle_access();
  return tar;
}

}  // namespace loaderscope
