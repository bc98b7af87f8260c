// Files of images as a source: one sample a file.
#pragma once

#include <array>
#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "base/placed.h"
#include "base/shared_memory.h"
#include "loaderscope/source.h"
#include "source/index.h"
#include "source/kernel_access.h"
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
  // One sentence each, for people; with what readers met so far.
  std::vector<std::string> notes() const;
  const std::vector<std::string>& roots() const { return roots_; }
  Bytes largest_sample() const { return largest_sample_; }
  bool from_cache = false;  // the index was there already

  // Takes pread where the kernel or the data's file system refuses the way of reading that was
  // asked for, and notes why. Before the first reader is made.
  void settle_access();
  FileAccess access() const { return access_; }  // in force
  int queue_depth() const { return queue_depth_; }
  const KernelAccess& kernel() const { return kernel_; }
  // What readers could not do as was asked for. From any thread, and any process forked from this.
  void count_read_through_cache() const { ++met_->reads_through_cache; }
  void count_reader_without_ring(const std::string& reason) const;

 private:
  struct Met {
    std::atomic<std::int64_t> reads_through_cache{0}, readers_without_ring{0};
    std::atomic<bool> knows_reason{false};
    std::array<char, 500> no_ring_reason{};
  };
  std::string refusal_of_access() const;  // "" when there is none

  FileAccess access_;
  int queue_depth_;
  const KernelAccess& kernel_;
  Bytes largest_sample_;
  std::vector<std::string> roots_;
  Index index_;
  std::vector<std::string> notes_;
  SharedMemory shared_;
  Placed<Met> met_;
};

}  // namespace loaderscope::source

namespace loaderscope {

// Opens folders of images (a folder per class, or one flat folder), or a manifest. No file of a
// sample is opened or looked at, but for one with direct access. Throws RunError: what is missing,
// empty, unreadable or stopped; UsageError: options that contradict each other.
std::unique_ptr<source::FileSource> open_files(const SourceOptions& options,
                                               const SourceContext& context = {});

}  // namespace loaderscope
