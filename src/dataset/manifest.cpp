#include "dataset/manifest.h"

#include <fmt/format.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "base/fd.h"
#include "base/foreign_json.h"
#include "loaderscope/errors.h"

namespace loaderscope::dataset {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kSchema = "loaderscope.dataset/1";
constexpr std::string_view kTwinSchema = "loaderscope.twin/1";
constexpr std::string_view kTokensSchema = "loaderscope.tokens/1";
constexpr std::string_view kPackSchema = "loaderscope.pack/1";

Json wanted(const MakeOptions& options) {
  Json json = {{"schema", kSchema},
               {"generator", kGenerator},
               {"count", options.count},
               {"size", size_distribution_to_text(options.size)},
               {"format", format_row(options.format).row.name}};
  if (options.bytes_per_pixel) {
    json["bytes-per-pixel"] = *options.bytes_per_pixel;
  } else if (format_row(options.format).has_quality) {
    json["quality"] = options.quality;
  }
  if (options.format == Format::jpeg) {
    json["subsampling"] = kSubsamplingNames[static_cast<std::size_t>(options.subsampling)];
    json["progressive-share"] = options.progressive_share;
  }
  json["classes"] = options.classes;
  json["seed"] = options.seed;
  return json;
}

std::string_view name_of_compression(const CompressionRow* compression) {
  return compression != nullptr ? compression->row.name : "none";
}

Json wanted(const PackOptions& options, const PackPlan& plan) {
  Json json = {{"schema", kPackSchema},
               {"generator", kGenerator},
               {"written-as", options.writer->row.name},
               {"compress", name_of_compression(options.compression)},
               {"samples", plan.samples},
               {"names", plan.digest},
               {"shards", plan.shards},
               {"encode", options.encode ? encoding_to_text(*options.encode) : "keep"},
               {"max-side", options.max_side},
               {"restart-rows", options.restart_rows},
               {"in-order", options.in_order},
               {"seed", options.seed}};
  if (options.row_group > 0) json["row-group"] = options.row_group;
  if (!options.augment.empty()) {
    json["augment"] = options.augment;
    json["size"] = options.size;
  }
  return json;
}

std::string manifest_path(const MadeFolder& folder) {
  return folder.path + "/" + std::string(kManifestName);
}

// Returns a discarded value if it is no JSON, or longer or deeper than a manifest.
Json parse_manifest(std::istream& input) {
  constexpr std::size_t kMaxLength = std::size_t{1} << 20;
  std::string text(kMaxLength + 1, '\0');
  input.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(input.gcount()));
  try {
    if (text.size() <= kMaxLength) return parse_foreign_json<Json>(text);
  } catch (const ValueError&) {
  }
  return Json(Json::value_t::discarded);
}

std::string member_text(const Json& json, const std::string& key) {
  return json.contains(key) ? shown_text(json[key].dump()) : "none";
}

RunError other_data_set(const MadeFolder& folder, const Json& found, const Json& asked) {
  for (const Json* side : {&asked, &found}) {
    for (const auto& [key, value] : side->items()) {
      if (key == "complete" || member_text(found, key) == member_text(asked, key)) continue;
      return RunError(
          fmt::format("{}: holds another data set ({} is {}, not {})", shown_text(folder.path),
                      shown_text(key), member_text(found, key), member_text(asked, key)),
          "give another folder or remove it");
    }
  }
  return RunError(shown_text(folder.path) + ": holds another data set", "give another folder");
}

}  // namespace

MadeFolder made_folder(const MakeOptions& options) {
  return {options.path, "data make", wanted(options).dump()};
}

MadeFolder made_folder(const MakeOptions& options, const MadeShards& shards) {
  Json json = wanted(options);
  json["written-as"] = shards.writer->row.name;
  json["compress"] = name_of_compression(shards.compression);
  json["shards"] = shards.plan.shards;
  return {options.path, "data make", json.dump()};
}

MadeFolder made_folder(const TokenOptions& options) {
  const Json wanted = {
      {"schema", kTokensSchema},
      {"generator", kGenerator},
      {"tokens", options.tokens},
      {"vocabulary", options.vocabulary},
      {"documents", options.documents ? lengths_to_text(*options.documents) : "none"},
      {"seed", options.seed}};
  return {options.path, "data make", wanted.dump()};
}

MadeFolder made_folder(const PackOptions& options, const PackPlan& plan) {
  return {options.to, "data pack", wanted(options, plan).dump()};
}

MadeFolder made_folder(const TwinOptions& options, std::int64_t images, std::uint64_t digest) {
  const Json wanted = {{"schema", kTwinSchema},
                       {"generator", kGenerator},
                       {"images", images},
                       {"facts", digest},
                       {"seed", options.seed}};
  return {options.path, "data make --like", wanted.dump()};
}

FolderState state_of_folder(const MadeFolder& folder) {
  if (is_free(folder.path)) return FolderState::fresh;
  const std::string path = manifest_path(folder);
  if (const std::string_view other = non_file_kind(path); !other.empty()) {
    throw RunError(shown_text(path) + ": is " + std::string(other) +
                       ", not the manifest of a data set of `" + std::string(folder.made_by) + "`",
                   "give a new folder");
  }
  std::ifstream input(path, std::ios::binary);
  if (!input) {
    throw RunError(shown_text(folder.path) + ": is not empty and holds no data set of `" +
                       std::string(folder.made_by) + "`",
                   "give a new folder");
  }
  return state_of_manifest(input, folder);
}

FolderState state_of_manifest(std::istream& input, const MadeFolder& folder) {
  Json found = parse_manifest(input);
  if (!found.is_object()) {
    throw RunError(shown_text(manifest_path(folder)) + ": is damaged",
                   "remove the data set's folder and make it again");
  }
  const Json asked = Json::parse(folder.asked);
  const auto entry = found.find("complete");
  const bool complete = entry != found.end() && entry->is_boolean() && entry->get<bool>();
  found.erase("complete");
  if (found != asked) throw other_data_set(folder, found, asked);
  return complete ? FolderState::complete : FolderState::incomplete;
}

void write_manifest(const MadeFolder& folder, bool complete) {
  Json json = Json::parse(folder.asked);
  json["complete"] = complete;
  write_whole(manifest_path(folder), json.dump(2) + "\n");
}

namespace {

FolderLock made_and_locked(const std::string& path) {
  make_folder(path);
  return FolderLock(path);
}

}  // namespace

FolderInMaking::FolderInMaking(const MadeFolder& folder, FolderState before, double bytes,
                               std::string_view remedy)
    : folder_(folder), lock_(made_and_locked(folder.path)) {
  if (before != FolderState::fresh) return;
  demand_space(folder.path, bytes, remedy);
  write_manifest(folder, false);
}

void FolderInMaking::note_complete() const {
  lock_.sync();  // so that no note outlives, in a power cut, what it vouches for
  write_manifest(folder_, true);
}

}  // namespace loaderscope::dataset
