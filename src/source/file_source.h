// Files of images as a source: one sample a file.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "loaderscope/source.h"
#include "source/index.h"
#include "source/options.h"

namespace loaderscope::source {

class FileSource final : public Source {
 public:
  // `roots`: to what the folders of the index are relative.
  FileSource(const SourceOptions& options, std::vector<std::string> roots, Index index);

  std::int64_t size() const override { return index_.samples(); }
  std::string describe(std::int64_t sample) const override;  // the path, as it is: not fit to print
  std::unique_ptr<SampleReader> make_reader() const override;

  std::int32_t label(std::int64_t sample) const { return index_.label(sample); }
  // Puts the path into `path`, whose memory is used again.
  void path_of(std::int64_t sample, std::string& path) const;
  const std::vector<std::string>& notes() const { return notes_; }  // one sentence each, for people
  const std::vector<std::string>& roots() const { return roots_; }
  Bytes largest_sample() const { return largest_sample_; }
  bool from_cache = false;  // the index was there already

 private:
  FileAccess access_;
  Bytes largest_sample_;
  std::vector<std::string> roots_;
  Index index_;
  std::vector<std::string> notes_;
};

}  // namespace loaderscope::source

namespace loaderscope {

// Opens folders of images (a folder per class, or one flat folder), or a manifest. No file of a
// sample is opened or looked at. Throws RunError: what is missing, empty, unreadable or stopped;
// UsageError: options that contradict each other.
std::unique_ptr<source::FileSource> open_files(const SourceOptions& options,
                                               const SourceContext& context = {});

}  // namespace loaderscope
