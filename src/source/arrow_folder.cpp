// Folders of Arrow files, as `datasets` of Hugging Face writes them.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/foreign_json.h"
#include "loaderscope/errors.h"
#include "source/arrow.h"
#include "source/named_files.h"
#include "source/store.h"
#include "source/walk.h"

namespace loaderscope::source {
namespace {

using Json = nlohmann::json;

constexpr Bytes kMaxState = Bytes{64} << 20;

// Returns nothing if the file is missing.
std::optional<Json> json_beside(const std::string& folder, const char* name) {
  const std::string path = join_path(folder, name);
  if (store_of(path).look_at(path).kind != PathFacts::Kind::object) return std::nullopt;
  try {
    Json json = parse_foreign_json<Json>(text_of_object(path, kMaxState));
    if (!json.is_object()) throw ValueError("is damaged: it holds no object of JSON");
    return json;
  } catch (const ValueError& error) {
    throw add_place<RunError>(shown_text(path) + ": ", error);
  }
}

[[noreturn]] void fail_as_splits(const std::string& folder, const Json& dict) {
  std::string splits, first;
  for (const Json& split : dict.value("splits", Json::array())) {
    if (!split.is_string()) continue;
    if (first.empty()) first = split.get<std::string>();
    splits += (splits.empty() ? "" : ", ") + shown_text(split.get<std::string>());
  }
  throw RunError(
      fmt::format("{}: holds the splits {}", shown_text(folder), splits),
      fmt::format("give one of them: --data arrow:{}/{}", shown_text(folder), shown_text(first)));
}

void add_files_of_state(const std::string& folder, const Json& state,
                        std::vector<std::string>& to) {
  const std::string path = shown_text(join_path(folder, "state.json"));
  const Json files = state.value("_data_files", Json());
  if (!files.is_array() || files.empty())
    throw RunError(path + ": names no files", "write the data set again by save_to_disk()");
  for (const Json& file : files) {
    const Json name = file.is_object() ? file.value("filename", Json()) : Json();
    const std::string text = name.is_string() ? name.get<std::string>() : "";
    if (text.empty() || text.find('/') != text.npos)
      throw RunError(path + ": names " + shown_text(text) + ", no file next to it");
    to.push_back(join_path(folder, text));
  }
  if (const Json indices = state.value("_indices_data_files", Json());
      indices.is_array() && !indices.empty())
    throw RunError(path + ": has its order in a file of indices",
                   "give that with ?indices=FILE, or write the data set again by "
                   "flatten_indices().save_to_disk()");
}

bool is_of_map(const std::string& path) {
  return std::filesystem::path(path).filename().string().starts_with("cache-");
}

}  // namespace

std::vector<std::string> arrow_files(const std::vector<std::string>& paths) {
  std::vector<std::string> files;
  for (const std::string& path : paths) {
    const bool is_folder = store_of(path).look_at(path).kind == PathFacts::Kind::folder;
    if (is_folder) {
      if (const auto dict = json_beside(path, "dataset_dict.json")) fail_as_splits(path, *dict);
      if (const auto state = json_beside(path, "state.json")) {
        add_files_of_state(path, *state, files);
        continue;
      }
    }
    std::vector<std::string> named = named_files({path}, kArrowSuffixes);
    const bool are_all_of_map = std::all_of(named.begin(), named.end(), is_of_map);
    if (is_folder && !are_all_of_map) std::erase_if(named, is_of_map);
    files.insert(files.end(), named.begin(), named.end());
  }
  return files;
}

}  // namespace loaderscope::source
