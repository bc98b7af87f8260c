#include "source/folders.h"

#include <algorithm>
#include <optional>
#include <span>
#include <string_view>

#include "base/image_formats.h"
#include "loaderscope/errors.h"
#include "source/index_builder.h"
#include "source/registry.h"
#include "source/store.h"
#include "source/walk.h"

namespace loaderscope::source {
namespace {

struct KnownFormat {
  const SourceRow* row;
  std::string_view suffix;
};

// The format of what lies there, by the ends of the names.
std::optional<KnownFormat> format_of_files(const std::string& root) {
  const FolderListing listing = store_of(root).list(root);
  for (std::size_t i = 0; i < listing.others.size(); ++i) {
    for (const SourceRow& row : source_table()) {
      const std::string_view suffix = row.suffix_of(listing.others[i]);
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
    const std::string_view its_class = class_of(folder.relative);
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
