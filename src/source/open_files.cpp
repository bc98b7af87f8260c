// From the user's paths to an open source: what is there, is its index still good, else list it.
#include <memory>
#include <utility>

#include "loaderscope/errors.h"
#include "source/file_source.h"
#include "source/folders.h"
#include "source/index_cache.h"
#include "source/manifest.h"
#include "source/store.h"

namespace loaderscope {
namespace source {
namespace {

// Raised whenever the same files would be listed in another way.
constexpr std::string_view kRules = "1";

PathFacts facts_of(const std::string& path, std::string_view flag) {
  PathFacts facts = store_of(path).look_at(path);
  if (facts.kind == PathFacts::Kind::nothing) {
    throw RunError(
        (path.empty() ? "''" : shown_text(path)) + ": cannot be opened (" + facts.why_nothing + ")",
        "check the path given with " + std::string(flag));
  }
  return facts;
}

std::string folder_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string::npos ? "" : path.substr(0, slash + 1);
}

void demand_folder(const std::string& path) {
  if (facts_of(path, "--data").kind == PathFacts::Kind::folder) return;
  throw RunError(shown_text(path) + ": is a file, not a folder of images",
                 "give its folder, or a list of files with --index");
}

std::unique_ptr<FileSource> open_folders(const SourceOptions& options,
                                         const SourceContext& context) {
  std::string key = "folders " + std::string(kRules) + " ";
  for (const std::string& path : options.paths) {
    demand_folder(path);
    append_path(key, path);
  }
  CachedIndex cached = cached_index(options, key, key, options.paths, 0, context,
                                    [&] { return index_folders(options.paths, key, context); });
  auto source = std::make_unique<FileSource>(options, options.paths, std::move(cached.index));
  source->from_cache = cached.was_there;
  return source;
}

std::unique_ptr<FileSource> open_manifest(const SourceOptions& options,
                                          const SourceContext& context) {
  const std::string& path = options.index_file;
  const PathFacts facts = facts_of(path, "--index");
  if (facts.kind != PathFacts::Kind::object) {
    throw RunError(shown_text(path) + ": is not a file",
                   "give the list of files itself, or its folder with --data");
  }
  if (!options.paths.empty()) demand_folder(options.paths.front());
  std::string key = "manifest " + std::string(kRules) + " ";
  append_path(key, path);
  const FolderStamp stamp = facts.stamp;
  const std::string identity = key + ' ' + std::to_string(stamp.inode) + ' ' +
                               std::to_string(stamp.mtime_ns) + ' ' + std::to_string(facts.size);
  const std::vector<std::string> roots = {
      options.paths.empty() ? folder_of(path) : options.paths.front(), ""};
  CachedIndex cached = cached_index(options, key, identity, roots, stamp.mtime_ns, context,
                                    [&] { return index_manifest(path, identity, context); });
  auto source = std::make_unique<FileSource>(options, roots, std::move(cached.index));
  source->from_cache = cached.was_there;
  return source;
}

}  // namespace
}  // namespace source

std::unique_ptr<source::FileSource> open_files(const SourceOptions& options,
                                               const SourceContext& context) {
  if (!options.index_file.empty() && options.paths.size() > 1) {
    throw UsageError("--index: lists the files below one folder", "give --data once or not at all");
  }
  std::unique_ptr<source::FileSource> files;
  if (!options.index_file.empty()) {
    files = source::open_manifest(options, context);
  } else if (!options.paths.empty()) {
    files = source::open_folders(options, context);
  } else {
    throw UsageError("--source files: no data are given", "give a folder of images with --data");
  }
  files->settle_access();
  return files;
}

}  // namespace loaderscope
