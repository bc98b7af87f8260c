// Indexes that DALI's wds2idx has written next to shards. Each line is a sample, with the
// extension, begin, size and name of each member.
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <charconv>

#include "base/foreign_json.h"
#include "loaderscope/errors.h"
#include "source/named_files.h"
#include "source/parallel.h"
#include "source/store.h"
#include "source/tar.h"

namespace loaderscope::source {
namespace {

constexpr std::string_view kVersion = "v1.2 ";
constexpr Bytes kMaxGivenIndex = Bytes{1} << 30;

std::string_view next_word(std::string_view& line) {
  const auto end = std::min(line.find(' '), line.size());
  const std::string_view word = line.substr(0, end);
  line.remove_prefix(std::min(end + 1, line.size()));
  return word;
}

std::string_view next_line(std::string_view& text) {
  const auto end = std::min(text.find('\n'), text.size());
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return line;
}

std::int64_t number_in_line(std::string_view word) {
  std::int64_t number = -1;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
  if (error != std::errc() || end != word.data() + word.size() || number < 0)
    throw ValueError("has something else instead of a number");
  return number;
}

TarMember next_member(std::string_view& line, Bytes shard_bytes) {
  const std::string_view extension = next_word(line);
  TarMember member;
  member.begin = number_in_line(next_word(line));
  member.size = number_in_line(next_word(line));
  member.name = next_word(line);
  if (!member.name.ends_with("." + std::string(extension)) ||
      member.name.find('\\') != member.name.npos)
    throw ValueError("has names with spaces or other signs, which cannot be separated");
  if (member.begin < kTarBlock || member.begin % kTarBlock != 0 || member.begin > shard_bytes ||
      member.size > shard_bytes - member.begin)
    throw ValueError("has a member that does not lie in the shard");
  return member;
}

// Checks the size in a member's header, in octal digits.
bool has_header(StoredObject& shard, const TarMember& member) {
  std::array<char, kTarBlock> block{};
  const auto to = std::as_writable_bytes(std::span(block));
  if (shard.read(member.begin - kTarBlock, to) < to.size()) return false;
  constexpr std::size_t kSizeAt = 124, kSizeDigits = 11;
  Bytes size = -1;
  const char* digits = block.data() + kSizeAt;
  std::from_chars(digits, digits + kSizeDigits, size, 8);
  return size == member.size;
}

// Names by wds2idx, which takes the name up to its first dot, and by the name up to ".tar".
std::vector<std::string> given_index_names(const std::string& shard) {
  const auto base = shard.rfind('/') + 1;
  const auto dot = shard.find('.', base + 1);
  std::vector<std::string> names;
  if (shard.ends_with(".tar")) names.push_back(shard.substr(0, shard.size() - 4) + ".idx");
  if (dot != shard.npos && dot + 4 != shard.size()) names.push_back(shard.substr(0, dot) + ".idx");
  return names;
}

}  // namespace

GivenIndex find_given_index(const std::string& shard) {
  GivenIndex given;
  const PathFacts shard_facts = find_store(shard).look_at(shard);
  for (const std::string& name : given_index_names(shard)) {
    const PathFacts facts = find_store(name).look_at(name);
    if (facts.kind != PathFacts::Kind::object) continue;
    given.path = name;
    // Servers may omit times.
    given.is_old = facts.stamp.mtime_ns > 0 && facts.stamp.mtime_ns < shard_facts.stamp.mtime_ns;
    return given;
  }
  return given;
}

std::vector<TarMember> parse_given_index(std::string_view text, Bytes shard_bytes) {
  if (!text.starts_with(kVersion)) throw ValueError("is none of version 1.2");
  text.remove_prefix(kVersion.size());
  const std::int64_t samples = number_in_line(next_line(text));
  std::vector<TarMember> members;
  std::int64_t lines = 0;
  for (; !text.empty(); ++lines) {
    std::string_view line = next_line(text);
    while (!line.empty()) members.push_back(next_member(line, shard_bytes));
  }
  if (lines != samples)
    throw ValueError(fmt::format("has {} lines, and says that there are {}", lines, samples));
  return members;
}

std::vector<GivenIndex> find_given_indexes(const std::vector<std::string>& shards,
                                           const SourceContext& context) {
  std::vector<GivenIndex> given(shards.size());
  if (shards.empty()) return given;
  given.front() = find_given_index(shards.front());
  if (is_remote(shards.front()) && given.front().path.empty()) return given;
  for_each_index(std::ssize(shards) - 1, "looking for indexes", context, [&](std::int64_t i) {
    const auto place = static_cast<std::size_t>(i + 1);
    given[place] = find_given_index(shards[place]);
  });
  return given;
}

std::optional<std::vector<TarMember>> members_of_given_index(const GivenIndex& given,
                                                             StoredObject& shard) {
  if (given.path.empty() || given.is_old) return std::nullopt;
  try {
    std::vector<TarMember> members =
        parse_given_index(text_of_object(given.path, kMaxGivenIndex), shard.size());
    if (members.empty() || !has_header(shard, members.front()) ||
        !has_header(shard, members.back()))
      return std::nullopt;
    return members;
  } catch (const ValueError&) {  // the shard itself is read
    return std::nullopt;
  }
}

std::string note_of_old_indexes(const std::vector<GivenIndex>& given) {
  std::string first;
  std::int64_t old = 0;
  for (const GivenIndex& index : given) {
    if (index.is_old && ++old == 1) first = index.path;
  }
  if (old == 0) return "";
  return fmt::format("{}{} older than {} and not read; make {} again with wds2idx",
                     shown_text(first), old > 1 ? fmt::format(" and {} more are", old - 1) : " is",
                     old > 1 ? "their shards" : "its shard", old > 1 ? "them" : "it");
}

// Lists of shards as WebDataset's `wids` has them (`widsindex`): a file of JSON that names shards
// and says how many samples each holds.

namespace {

using Json = nlohmann::json;

constexpr std::string_view kListSuffix = ".json";
constexpr Bytes kMaxList = Bytes{64} << 20;
constexpr std::int64_t kMaxSamples = std::int64_t{1} << 48;

std::string text_in_list(const Json& holder, const char* key) {
  const auto found = holder.find(key);
  return found != holder.end() && found->is_string() ? found->get<std::string>() : "";
}

class ShardList {
 public:
  explicit ShardList(NamedShards& to) : to_(to) {}

  void add(const std::string& path, bool is_named_by_list = false) {
    try {
      const Json json = parse_foreign_json<Json>(text_of_object(path, kMaxList));
      if (!json.is_object()) throw ValueError("is no list of shards: it holds no object of JSON");
      add_all(json, path, is_named_by_list);
    } catch (const ValueError& error) {
      throw add_place<RunError>(shown_text(path) + ": ", error);
    }
  }

 private:
  void add_all(const Json& list, const std::string& path, bool is_named_by_list) {
    const Json version = list.value("wids_version", Json(is_named_by_list ? 1 : 0));
    if (version != 1)
      throw ValueError("is no list of shards as widsindex writes them: it has no wids_version 1");
    const auto before = to_.shards.size();
    add_shards(list, path);
    if (const auto sets = list.find("datasets"); sets != list.end() && sets->is_array()) {
      for (const Json& set : *sets) {
        if (!set.is_object()) throw ValueError("has something else among its datasets");
        const std::string other = text_in_list(set, "source_url");
        if (other.empty()) {
          add_shards(set, path);
        } else if (is_named_by_list) {
          throw ValueError("is named by a list and names another, which is not followed");
        } else {
          add(sibling_path(path, other), true);
        }
      }
    }
    if (to_.shards.size() == before) throw ValueError("lists no shards");
  }

  void add_shards(const Json& list, const std::string& path) {
    const auto shards = list.find("shardlist");
    if (shards == list.end()) return;
    if (!shards->is_array()) throw ValueError("has something else instead of its shardlist");
    const std::string base = text_in_list(list, "base");
    const std::string from = base.empty() ? path : sibling_path(path, base) + "/";
    for (const Json& shard : *shards) {
      const std::string url = shard.is_object() ? text_in_list(shard, "url") : "";
      const Json samples = shard.is_object() ? shard.value("nsamples", Json()) : Json();
      if (url.empty() || !samples.is_number_unsigned())
        throw ValueError(fmt::format("has no url or no nsamples in shard {} of its list",
                                     &shard - &shards->front() + 1));
      to_.shards.push_back(sibling_path(from, url));
      const auto more = samples.get<std::uint64_t>();
      if (more > kMaxSamples || to_.samples > kMaxSamples - static_cast<std::int64_t>(more))
        throw ValueError(
            fmt::format("is damaged: with shard {} of its list it has more than 2^48 samples",
                        &shard - &shards->front() + 1),
            "write it again with widsindex");
      to_.samples += static_cast<std::int64_t>(more);
    }
  }

  // Resolves a name in a list at this path. A server's list cannot name files of this machine.
  static std::string sibling_path(const std::string& path, const std::string& name) {
    if (name.find("://") != name.npos) {
      if (is_remote(name)) return name;
      throw ValueError("names " + shown_text(name) + ", which is no http(s):// and no s3://");
    }
    if (!name.starts_with('/')) return path.substr(0, path.rfind('/') + 1) + name;
    if (!is_remote(path)) return name;
    throw ValueError("names " + shown_text(name) + ", from the root of a server",
                     "write it again with names next to it");
  }

  NamedShards& to_;
};

}  // namespace

NamedShards named_shards(const std::vector<std::string>& paths) {
  NamedShards named;
  bool are_all_lists = true;
  for (const std::string& path : paths) {
    if (path.ends_with(kListSuffix) &&
        find_store(path).look_at(path).kind == PathFacts::Kind::object) {
      named.list = path;
      ShardList(named).add(path);
      continue;
    }
    are_all_lists = false;
    for (std::string& shard : named_files({path}, kTarSuffixes))
      named.shards.push_back(std::move(shard));
  }
  if (!are_all_lists) named.list.clear();
  return named;
}

}  // namespace loaderscope::source
