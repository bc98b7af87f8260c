// How the extents of a source are read in one run: the way in force, and what readers met.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/arena_ptr.h"
#include "base/shared_memory.h"
#include "loaderscope/source.h"
#include "source/kernel_access.h"
#include "source/options.h"
#include "source/read_counts.h"

namespace loaderscope::source {

class Access {
 public:
  // `extents` outlives it, and readers.
  Access(const Extents& extents, const AccessOptions& options);

  // Takes pread where the kernel or the data's file system refuses the way of reading that was
  // asked for, and notes why. Before the first reader is made.
  void settle();
  FileAccess way() const { return way_; }  // in force
  std::unique_ptr<SampleReader> make_reader() const;
  Bytes bytes_read_ahead() const;  // by one reader, at most
  std::vector<std::string> notes() const;
  std::vector<Metric> metrics() const;

  // For readers.
  const AccessOptions& options() const { return options_; }
  const ReadCounts& counts() const { return counts_; }
  const Extents& extents() const { return extents_; }
  int queue_depth() const { return queue_depth_; }
  Bytes largest_sample() const { return largest_sample_; }
  const KernelAccess& kernel() const { return kernel_; }
  // What they could not do as was asked for. From any thread, and any process forked from this.
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
  std::string refusal() const;  // "" when there is none

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

// Which of the bytes of a sample's extent are the sample, valid as long as they are and until the
// next call. Throws SampleError.
using PartOfExtent = std::function<std::span<const std::byte>(std::int64_t sample,
                                                              std::span<const std::byte> extent)>;

// A source that says where its samples lie; an Access reads them.
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
  // Once the extents are there, and before the first reader.
  void settle_access() { access_.settle(); }

 protected:
  void add_note(std::string note) { notes_.push_back(std::move(note)); }
  // Of a format that stores more with a sample than the sample.
  std::unique_ptr<SampleReader> make_reader_of_parts(PartOfExtent part) const;
  const Access& reading() const { return access_; }

 private:
  Access access_;
  std::vector<std::string> notes_;
};

}  // namespace loaderscope::source
