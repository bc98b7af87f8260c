#include "source/file_source.h"

#include <algorithm>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "base/image_formats.h"
#include "loaderscope/errors.h"
#include "source/index_cache.h"
#include "source/manifest.h"
#include "source/registry.h"
#include "source/store.h"
#include "source/walk.h"

namespace loaderscope::source {

FileSource::FileSource(const SourceOptions& options, std::vector<std::string> roots, Index index)
    : ExtentSource(options), roots_(std::move(roots)), index_(std::move(index)) {
  if (index_.left_out() > 0) {
    add_note(std::to_string(index_.left_out()) +
             " images outside the class folders belong to no class and are left out, as "
             "torchvision does");
  }
}

std::string FileSource::describe(std::int64_t sample) const {
  std::string path;
  get_path(sample, path);
  return path;
}

void FileSource::get_path(std::int64_t object, std::string& path) const {
  thread_local std::string name;
  const FolderEntry folder = index_.folder(index_.file(object, name));
  path.clear();
  const auto append = [&path](std::string_view part) {
    if (!path.empty() && path.back() != '/' && !part.empty()) path += '/';
    path += part;
  };
  if (folder.root < roots_.size()) append(roots_[folder.root]);
  append(folder.relative);
  append(name);
}

namespace {

struct KnownFormat {
  const SourceRow* row;
  std::string_view suffix;
};

// The format of what lies there, by the ends of the names.
std::optional<KnownFormat> format_of_files(const std::string& root) {
  const FolderListing listing = find_store(root).list(root);
  for (std::size_t i = 0; i < listing.others.size(); ++i) {
    for (const SourceRow& row : source_table()) {
      const std::string_view suffix = row.matching_suffix(listing.others[i]);
      if (!suffix.empty()) return KnownFormat{&row, suffix};
    }
  }
  return std::nullopt;
}

RunError nothing_found(const std::string& root) {
  const std::string begin =
      shown_text(root) + ": holds no images (files named " + image_suffixes() + ")";
  if (const auto known = format_of_files(root)) {
    return RunError(begin + ", but " + std::string(known->suffix) + " files",
                    "give --data " + std::string(known->row->row.name) + ":" + shown_text(root));
  }
  return RunError(begin, "give the folder that holds them or their class folders");
}

void add_images(IndexBuilder& builder, const WalkedFolder& folder, std::int32_t label, bool used) {
  const std::uint32_t number =
      builder.add_folder({folder.root, folder.relative, label, folder.stamp});
  if (!used) {
    builder.left_out += static_cast<std::int64_t>(folder.images.size());
    return;
  }
  for (std::size_t i = 0; i < folder.images.size(); ++i) builder.add(number, folder.images[i]);
}

// `folders` are those of one root, the root itself first.
void add_root(IndexBuilder& builder, std::span<const WalkedFolder> folders) {
  const auto below = folders.subspan(1);
  const bool has_classes = std::any_of(below.begin(), below.end(),
                                       [](const WalkedFolder& f) { return f.images.size() > 0; });
  add_images(builder, folders.front(), 0, !has_classes);
  std::int32_t label = -1;
  std::string_view last_class;
  for (const WalkedFolder& folder : below) {
    const std::string_view its_class = class_name(folder.relative);
    if (label < 0 || its_class != last_class) ++label;
    last_class = its_class;
    add_images(builder, folder, label, true);
  }
}

}  // namespace

Index index_folders(const std::vector<std::string>& roots, std::string_view identity,
                    const SourceContext& context) {
  const std::vector<WalkedFolder> folders = walk(roots, context);
  IndexBuilder builder;
  std::size_t begin = 0;
  for (std::uint32_t root = 0; root < roots.size(); ++root) {
    std::size_t end = begin;
    while (end < folders.size() && folders[end].root == root) ++end;
    const std::int64_t before = builder.samples();
    add_root(builder, std::span(folders).subspan(begin, end - begin));
    if (builder.samples() == before) throw nothing_found(roots[root]);
    begin = end;
  }
  return builder.finish(identity);
}

}  // namespace loaderscope::source

namespace loaderscope {

// From the user's paths to an open source: what is there, is its index still good, else list it.

namespace source {
namespace {

// Raised whenever the same files would be listed in another way.
constexpr std::string_view kRules = "1";

PathFacts path_facts(const std::string& path, std::string_view flag) {
  PathFacts facts = find_store(path).look_at(path);
  if (facts.kind == PathFacts::Kind::nothing) {
    throw RunError(
        (path.empty() ? "''" : shown_text(path)) + ": cannot be opened (" + facts.why_nothing + ")",
        "check the path given with " + std::string(flag));
  }
  return facts;
}

std::string parent_folder(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string::npos ? "" : path.substr(0, slash + 1);
}

void demand_folder(const std::string& path) {
  if (path_facts(path, "--data").kind == PathFacts::Kind::folder) return;
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
  const PathFacts facts = path_facts(path, "--index");
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
      options.paths.empty() ? parent_folder(path) : options.paths.front(), ""};
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
