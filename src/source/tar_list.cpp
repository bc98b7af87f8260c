// Lists of shards as WebDataset's `wids` has them (`widsindex`): a file of JSON that names shards
// and says how many samples each holds.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/foreign_json.h"
#include "loaderscope/errors.h"
#include "source/named_files.h"
#include "source/store.h"
#include "source/tar.h"

namespace loaderscope::source {
namespace {

using Json = nlohmann::json;

constexpr std::string_view kListSuffix = ".json";
constexpr Bytes kMaxList = Bytes{64} << 20;
constexpr std::int64_t kMaxSamples = std::int64_t{1} << 48;

std::string text_in_list(const Json& of, const char* key) {
  const auto found = of.find(key);
  return found != of.end() && found->is_string() ? found->get<std::string>() : "";
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
          add(beside(path, other), true);
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
    const std::string from = base.empty() ? path : beside(path, base) + "/";
    for (const Json& shard : *shards) {
      const std::string url = shard.is_object() ? text_in_list(shard, "url") : "";
      const Json samples = shard.is_object() ? shard.value("nsamples", Json()) : Json();
      if (url.empty() || !samples.is_number_unsigned())
        throw ValueError(fmt::format("has no url or no nsamples in shard {} of its list",
                                     &shard - &shards->front() + 1));
      to_.shards.push_back(beside(from, url));
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
  static std::string beside(const std::string& path, const std::string& name) {
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
        store_of(path).look_at(path).kind == PathFacts::Kind::object) {
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
