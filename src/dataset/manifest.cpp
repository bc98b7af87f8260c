#include "dataset/manifest.h"

#include <fmt/format.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "base/file_kind.h"
#include "dataset/files.h"
#include "loaderscope/errors.h"

namespace loaderscope::dataset {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kSchema = "loaderscope.dataset/1";

// Everything that the bytes of the images depend on, under the names of the flags.
Json wanted(const MakeOptions& options) {
  Json json = {{"schema", kSchema},
               {"generator", kGenerator},
               {"count", options.count},
               {"size", spell_size_distribution(options.size)},
               {"format", row_of(options.format).row.name}};
  if (options.bytes_per_pixel) {
    json["bytes-per-pixel"] = *options.bytes_per_pixel;
  } else if (row_of(options.format).has_quality) {
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

std::string manifest_path(const MakeOptions& options) {
  return options.path + "/" + std::string(kManifestName);
}

// Discarded where it is no JSON, and where it is nested deeper than any manifest: what compares and
// prints values calls itself for each level.
Json parse_manifest(std::istream& in) {
  constexpr int kDeepest = 4;
  bool too_deep = false;
  const auto watch = [&](int depth, Json::parse_event_t, Json&) {
    too_deep = too_deep || depth > kDeepest;
    return !too_deep;
  };
  Json parsed = Json::parse(in, watch, false);
  return too_deep ? Json(Json::value_t::discarded) : parsed;
}

std::string text_of(const Json& json, const std::string& key) {
  return json.contains(key) ? shown_text(json[key].dump()) : "none";
}

RunError other_data_set(const MakeOptions& options, const Json& found, const Json& asked) {
  for (const Json* side : {&asked, &found}) {
    for (const auto& [key, value] : side->items()) {
      if (key == "complete" || text_of(found, key) == text_of(asked, key)) continue;
      return RunError(fmt::format(
          "{}: holds another data set ({}: {} there, {} asked for); give another folder or remove "
          "it",
          shown_text(options.path), shown_text(key), text_of(found, key), text_of(asked, key)));
    }
  }
  return RunError(shown_text(options.path) + ": holds another data set; give another folder");
}

}  // namespace

FolderState state_of_folder(const MakeOptions& options) {
  if (is_free(options.path)) return FolderState::fresh;
  const std::string path = manifest_path(options);
  if (const std::string_view other = kind_unless_file(path); !other.empty()) {
    throw RunError(shown_text(path) + ": is " + std::string(other) +
                   ", not the manifest of a data set of `data make`; give a new folder");
  }
  std::ifstream in(path, std::ios::binary);
  if (!in) {
    throw RunError(shown_text(options.path) +
                   ": is not empty and holds no data set of `data make`; give a new folder");
  }
  return state_of_manifest(in, options);
}

FolderState state_of_manifest(std::istream& in, const MakeOptions& options) {
  Json found = parse_manifest(in);
  if (!found.is_object()) {
    throw RunError(shown_text(manifest_path(options)) +
                   ": is damaged; remove the data set's folder and make it again");
  }
  const Json asked = wanted(options);
  const auto entry = found.find("complete");
  const bool complete = entry != found.end() && entry->is_boolean() && entry->get<bool>();
  found.erase("complete");
  if (found != asked) throw other_data_set(options, found, asked);
  return complete ? FolderState::complete : FolderState::incomplete;
}

void write_manifest(const MakeOptions& options, bool complete) {
  Json json = wanted(options);
  json["complete"] = complete;
  write_whole(manifest_path(options), json.dump(2) + "\n");
}

}  // namespace loaderscope::dataset
