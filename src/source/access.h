// Reading of a source's extents in one run: the access method in use, and the counts of its
// readers.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/shared_memory.h"
#include "loaderscope/source.h"
#include "source/kernel_access.h"
#include "source/options.h"
#include "source/read_counts.h"

namespace loaderscope::source {

class Access {
 public:
  // `extents` outlives the object and its readers.
  Access(const Extents& extents, const AccessOptions& options);

  // Falls back to pread, with a note, if the kernel or the file system of the data refuses the
  // requested access method. Call before the first reader is made.
  void settle();
  FileAccess way() const { return way_; }  // access method in use
  std::unique_ptr<SampleReader> make_reader() const;
  Bytes bytes_read_ahead() const;  // maximum of one reader
  std::vector<std::string> notes() const;
  std::vector<Metric> metrics() const;

  // The following functions are for readers.
  const AccessOptions& options() const { return options_; }
  const ReadCounts& counts() const { return counts_; }
  const Extents& extents() const { return extents_; }
  int queue_depth() const { return queue_depth_; }
  Bytes largest_sample() const { return largest_sample_; }
  const KernelAccess& kernel() const { return kernel_; }
  // Counts of requests that could not be met as asked. Call from any thread, and from any process
  // forked from this one.
  void count_read_through_cache() const { ++met_->reads_through_cache; }
  void count_reader_without_ring(const std::string& reason) const;
  void count_opened(WorkCounts& work = thread_counts) const { counts_.count_opened(work); }
  void count_request(Bytes bytes, WorkCounts& work = thread_counts) const {
    counts_.count_request(bytes, work);
  }
  void count_sample(Bytes bytes) const { counts_.count_sample(bytes); }

 private:
  struct ReaderStats {
    std::atomic<std::int64_t> reads_through_cache{0}, readers_without_ring{0};
    std::atomic<bool> knows_reason{false};
    std::array<char, 500> no_ring_reason{};
  };
  std::string refusal() const;  // "": no refusal

  bool is_remote() const;

  const Extents& extents_;
  const AccessOptions options_;
  FileAccess way_;
  int queue_depth_;
  Bytes largest_sample_;
  const KernelAccess& kernel_;
  std::vector<std::string> notes_;
  ReadCounts counts_;
  SharedMemory shared_;
  ArenaPtr<ReaderStats> met_;
};

// Returns the part of a sample's extent that is the sample. It is valid as long as the extent, and
// until the next call. Throws SampleError.
using PartOfExtent = std::function<std::span<const std::byte>(std::int64_t sample,
                                                              std::span<const std::byte> extent)>;

// A source that knows where its samples are. An Access reads them.
class ExtentSource : public Source, public Extents {
 public:
  explicit ExtentSource(const AccessOptions& options) : access_(*this, options) {}

  std::unique_ptr<SampleReader> make_reader() const override { return access_.make_reader(); }
  const Extents* extents() const override { return this; }
  std::optional<FileAccess> access() const override { return access_.way(); }
  Bytes bytes_read_ahead() const override { return access_.bytes_read_ahead(); }
  std::vector<std::string> notes() const override;
  std::vector<Metric> metrics() const override { return access_.metrics(); }
  std::vector<Detail> details() const override { return details_of_requests(access_.counts()); }
  // Call once the extents are known, before the first reader.
  void settle_access() { access_.settle(); }

 protected:
  void add_note(std::string note) { notes_.push_back(std::move(note)); }
  // Reader for a format that stores more with a sample than the sample.
  std::unique_ptr<SampleReader> make_reader_of_parts(PartOfExtent part) const;
  const Access& reading() const { return access_; }

 private:
  Access access_;
  std::vector<std::string> notes_;
};

}  // namespace loaderscope::source
