// The index.json of mosaicml-streaming and of LitData.
#include <fmt/format.h>

#include <limits>
#include <nlohmann/json.hpp>

#include "base/foreign_json.h"
#include "loaderscope/errors.h"
#include "source/items.h"

namespace loaderscope::source {
namespace {

using Json = nlohmann::json;

// limit of the type of its offsets
constexpr Bytes kMaxOfShard = std::numeric_limits<std::uint32_t>::max();

[[noreturn]] void fail_at(std::string_view what) {
  throw ValueError(fmt::format("is no index.json as its library writes it: {}", what));
}

const Json& member(const Json& object, const char* name) {
  const auto found = object.find(name);
  if (found == object.end()) fail_at(fmt::format("'{}' is missing", name));
  return *found;
}

Json parsed(std::string_view text) {
  Json json = parse_foreign_json<Json>(text);
  if (!json.is_object()) fail_at("it holds no object");
  return json;
}

std::string string_value(const Json& value) {
  return value.is_string() ? value.get<std::string>() : std::string();
}

std::int64_t member_count(const Json& object, const char* name) {
  const Json& value = member(object, name);
  if (!value.is_number_unsigned() || value.get<std::uint64_t>() > kMaxOfShard)
    fail_at(fmt::format("'{}' is no number of a shard", name));
  return value.get<std::int64_t>();
}

// Below the folder of the index, wherever that is.
std::string member_file(const Json& object, const char* name) {
  std::string file = string_value(member(object, name));
  const bool leaves =
      file.empty() || file.front() == '/' || ("/" + file + "/").find("/../") != std::string::npos;
  if (leaves) fail_at(fmt::format("'{}' is {}, no file below its folder", name, shown_text(file)));
  return file;
}

const Json& member_list(const Json& object, const char* name) {
  const Json& list = member(object, name);
  if (!list.is_array() || list.empty()) fail_at(fmt::format("'{}' is no list", name));
  return list;
}

std::vector<ItemField> mds_fields(const Json& shard) {
  const Json &names = member_list(shard, "column_names"),
             &encodings = member_list(shard, "column_encodings"),
             &sizes = member_list(shard, "column_sizes");
  if (names.size() != encodings.size() || names.size() != sizes.size())
    fail_at("its columns have unequal numbers of names, encodings and sizes");
  std::vector<ItemField> fields;
  for (std::size_t i = 0; i < names.size(); ++i) {
    ItemField field{string_value(names[i]), string_value(encodings[i]), std::nullopt};
    if (sizes[i].is_number_unsigned() && sizes[i].get<std::uint64_t>() <= kMaxOfShard)
      field.size = sizes[i].get<Bytes>();
    else if (!sizes[i].is_null())
      fail_at("a size of a column is no number");
    fields.push_back(std::move(field));
  }
  return fields;
}

// A tree of one level has names; "context" is text of JSON in JSON.
std::vector<std::string> litdata_names(const Json& config) {
  std::vector<std::string> names;
  const Json spec = parse_foreign_json<Json>(string_value(member(config, "data_spec")));
  if (!spec.is_array() || spec.size() != 2 || !spec[1].is_object()) return names;
  if (string_value(spec[1].value("type", Json())) != "builtins.dict") return names;
  for (const Json& child : spec[1].value("children_spec", Json::array())) {
    if (!child.is_object() || !child.value("type", Json()).is_null()) return {};
  }
  const Json keys = parse_foreign_json<Json>(string_value(spec[1].value("context", Json())));
  if (!keys.is_array()) return names;
  for (const Json& key : keys) names.push_back(key.is_string() ? string_value(key) : key.dump());
  return names;
}

std::vector<ItemField> litdata_fields(const Json& config) {
  const Json& formats = member_list(config, "data_format");
  std::vector<std::string> names = litdata_names(config);
  std::vector<ItemField> fields;
  for (std::size_t i = 0; i < formats.size(); ++i) {
    fields.push_back({names.size() == formats.size() ? names[i] : std::to_string(i),
                      string_value(formats[i]), std::nullopt});
  }
  return fields;
}

}  // namespace

ItemIndex parse_mds_index(std::string_view text) {
  const Json json = parsed(text);
  ItemIndex index;
  for (const Json& shard : member_list(json, "shards")) {
    if (!shard.is_object()) fail_at("a shard is no object");
    if (const std::string format = string_value(member(shard, "format")); format != "mds")
      fail_at(fmt::format("its shards are '{}'; mds can be read", shown_text(format)));
    std::vector<ItemField> fields = mds_fields(shard);
    if (index.shards.empty()) index.fields = fields;
    if (fields != index.fields) fail_at("its shards have unequal columns");
    const Json &raw = member(shard, "raw_data"), &zip = member(shard, "zip_data");
    if (!raw.is_object()) fail_at("'raw_data' is no object");
    ItemShard one{member_file(raw, "basename"), "", "", member_count(shard, "samples"),
                  member_count(raw, "bytes")};
    if (zip.is_object()) {
      one.packed_file = member_file(zip, "basename");
      one.packed_by = string_value(member(shard, "compression"));
    }
    index.shards.push_back(std::move(one));
  }
  return index;
}

ItemIndex parse_litdata_index(std::string_view text) {
  const Json json = parsed(text);
  const Json& config = member(json, "config");
  if (!config.is_object()) fail_at("'config' is no object");
  if (!config.value("encryption", Json()).is_null())
    fail_at("its chunks are encrypted, which cannot be read");
  if (const std::string loader = string_value(config.value("item_loader", Json("PyTreeLoader")));
      loader != "PyTreeLoader")
    fail_at(fmt::format("its items are of a {}; those of PyTreeLoader can be read",
                        shown_text(loader)));
  const std::string packed_by = string_value(config.value("compression", Json()));
  const std::string level = string_value(config.value("compression_level", Json()));
  if (!level.empty() && level != "chunk") {
    throw ValueError(fmt::format("its chunks are compressed by the {}", shown_text(level)),
                     "compress them as a whole (compression_level=\"chunk\"), or not at all");
  }
  ItemIndex index;
  index.fields = litdata_fields(config);
  for (const Json& chunk : member_list(json, "chunks")) {
    if (!chunk.is_object()) fail_at("a chunk is no object");
    const std::string file = member_file(chunk, "filename");
    const bool is_packed = !packed_by.empty();
    index.shards.push_back({is_packed ? "" : file, is_packed ? file : "", packed_by,
                            member_count(chunk, "chunk_size"), member_count(chunk, "chunk_bytes")});
  }
  return index;
}

}  // namespace loaderscope::source
