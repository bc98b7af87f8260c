// Files of images as a source: one sample a file. The index of their folders is kept.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "source/access.h"
#include "source/index.h"
#include "source/options.h"

namespace loaderscope::source {

class FileSource final : public ExtentSource {
 public:
  // `roots`: to what the folders of the index are relative.
  FileSource(const SourceOptions& options, std::vector<std::string> roots, Index index);

  std::int64_t size() const override { return index_.samples(); }
  std::string describe(std::int64_t sample) const override;  // the path, as it is: not fit to print

  // Sample and object have one number.
  std::int64_t objects() const override { return index_.samples(); }
  Extent extent(std::int64_t sample) const override { return {sample, 0, Extent::kToEnd}; }
  void get_path(std::int64_t object, std::string& path) const override;
  std::vector<std::string> roots() const override { return roots_; }

  std::int32_t label(std::int64_t sample) const { return index_.label(sample); }
  bool from_cache = false;  // the index was there already

 private:
  std::vector<std::string> roots_;
  Index index_;
};

}  // namespace loaderscope::source

namespace loaderscope {

// Opens folders of images (a folder per class, or one flat folder), or a manifest. No file of a
// sample is opened or looked at, but for one with direct access. Throws RunError: what is missing,
// empty, unreadable or stopped; UsageError: options that contradict each other.
std::unique_ptr<source::FileSource> open_files(const SourceOptions& options,
                                               const SourceContext& context = {});

}  // namespace loaderscope

namespace loaderscope::source {

// The index of folders of images.

// `roots` as the user gave them. The label is the place of the class folder among all class folders
// of its root; of files in a folder without class folders it is 0. Throws RunError.
Index index_folders(const std::vector<std::string>& roots, std::string_view identity,
                    const SourceContext& context);

}  // namespace loaderscope::source
