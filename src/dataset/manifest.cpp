#include "dataset/manifest.h"

#include <fmt/format.h>

#include <fstream>
#include <nlohmann/json.hpp>

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
  std::ifstream in(manifest_path(options), std::ios::binary);
  if (!in) {
    throw RunError(shown_text(options.path) +
                   ": is not empty and holds no data set of `data make`; give a new folder");
  }
  Json found = Json::parse(in, nullptr, false);
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
