#include "dataset/make.h"

#include <fmt/format.h>

#include "dataset/files.h"
#include "dataset/fill.h"
#include "dataset/making.h"
#include "dataset/manifest.h"
#include "dataset/plan.h"

namespace loaderscope::dataset {
namespace {

// Somebody may have removed some since the manifest was written.
bool has_all_images(const MakeOptions& options) {
  for (std::int64_t index = 0; index < options.count; ++index) {
    if (!is_written(options.path + "/" + image_path(options, index))) return false;
  }
  return true;
}

MakeResult fill(const MakeOptions& options, const Making& making, const MakeContext& context) {
  ShardFill filling;
  filling.folder = options.path;
  filling.count = options.count;
  filling.threads = options.threads;
  filling.path_of = [&](std::int64_t index) { return image_path(options, index); };
  filling.make_maker = [&] { return making.make_maker(); };
  return fill_folder(filling, context);
}

}  // namespace

MakeResult make_dataset(const MakeOptions& options, const MakeContext& context) {
  check_options(options);
  const MadeFolder folder = made_folder(options);
  const FolderState before = state_of_folder(folder);
  if (before == FolderState::complete && has_all_images(options))
    return {0, options.count, 0, true};
  const Making making(options);
  const FolderInMaking filled(folder, before, making.bytes(), "lower --count");
  for (std::int64_t i = 0; i < options.classes; ++i) {
    make_folder(options.path + "/" + class_folder(options.classes, i));
  }
  const MakeResult result = fill(options, making, context);
  if (result.complete) filled.note_complete();
  return result;
}

std::string describe(const std::string& path, std::int64_t count, const MakeResult& result) {
  const std::string place = shown_text(path);
  if (!result.complete) {
    return fmt::format("{}: stopped with {} of {} images; run the same command again to continue",
                       place, result.made + result.found, count);
  }
  if (result.made == 0) return fmt::format("{}: holds these {} images already", place, count);
  return fmt::format(
      "{}: {} images made, {} ({} each){}", place, result.made,
      format_size(static_cast<double>(result.bytes)),
      format_size(static_cast<double>(result.bytes) / static_cast<double>(result.made)),
      result.found > 0 ? fmt::format(", {} were there", result.found) : "");
}

}  // namespace loaderscope::dataset
