#include "source/access.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <optional>
#include <utility>

#include "record/family_traits.h"
#include "source/extent_opener.h"
#include "source/range_cache.h"
#include "source/readers.h"
#include "source/registry.h"
#include "source/store.h"

namespace loaderscope::source {
namespace {

constexpr std::int64_t kMaxLookedAt = 16;  // objects until one can be opened

// Checks the first object that can be opened. The others are most likely on the same file system,
// and readers check each that is not.
std::string refusal_of_direct_reads(const Access& access) {
  ExtentOpener opener(access);
  for (std::int64_t i = 0; i < std::min(kMaxLookedAt, access.extents().objects()); ++i) {
    try {
      return access.kernel().direct_reads(opener.open_object(i)->fd).refusal;
    } catch (const SampleError&) {  // the run will name it
    }
  }
  return "";
}

}  // namespace

Access::Access(const Extents& extents, const AccessOptions& options)
    : extents_(extents),
      options_(options),
      way_(options.access),
      queue_depth_(options.queue_depth),
      largest_sample_(options.largest_sample),
      kernel_(options.kernel != nullptr ? *options.kernel : this_kernel()),
      met_(place<ReaderStats>(shared_)) {}

std::unique_ptr<SampleReader> Access::make_reader() const { return access_row(way_).make(*this); }

Bytes Access::bytes_read_ahead() const {
  return access_row(way_).readahead_limit ? kMaxReadAhead : 0;
}

std::vector<Metric> Access::metrics() const {
  std::vector<Metric> metrics = counts_.metrics();
  if (options_.kept) options_.kept->add_metrics(metrics);
  return metrics;
}

bool Access::is_remote() const {
  if (extents_.objects() == 0) return false;
  std::string path;
  extents_.get_path(0, path);
  return source::is_remote(path);
}

std::string Access::refusal() const {
  const AccessRow& row = access_row(way_);
  if (row.refusal != nullptr) {
    if (const auto reason = (kernel_.*row.refusal)()) return *reason;
  }
  return access_traits(way_).is_direct ? refusal_of_direct_reads(*this) : "";
}

// Objects of servers are always read with requests.
void Access::settle() {
  const bool remote = is_remote();
  if (remote != access_traits(way_).is_remote) {
    const FileAccess asked = std::exchange(way_, remote ? FileAccess::http : FileAccess::pread);
    if (asked != FileAccess::pread)
      notes_.push_back(fmt::format("--access {} is for {}, {} are read with {}", name_of(asked),
                                   remote ? "files" : "objects of servers",
                                   remote ? "objects of servers" : "files", name_of(way_)));
  }
  if (remote) return;
  const std::string reason = refusal();
  if (reason.empty()) return;
  notes_.push_back("--access " + std::string(name_of(way_)) +
                   " is not possible, files are read with pread: " + reason);
  way_ = FileAccess::pread;
}

void Access::count_reader_without_ring(const std::string& reason) const {
  if (met_->readers_without_ring.fetch_add(1) > 0) return;
  std::snprintf(met_->no_ring_reason.data(), met_->no_ring_reason.size(), "%s", reason.c_str());
  met_->knows_reason.store(true, std::memory_order_release);
}

std::vector<std::string> Access::notes() const {
  std::vector<std::string> notes = notes_;
  if (options_.kept) {
    for (std::string& note : options_.kept->notes()) notes.push_back(std::move(note));
  }
  const std::string access = "--access " + std::string(name_of(way_));
  if (const std::int64_t reads = met_->reads_through_cache; reads > 0) {
    notes.push_back(access + ": " + std::to_string(reads) +
                    " reads went through the page cache, of files whose file system refuses "
                    "O_DIRECT");
  }
  if (met_->knows_reason.load(std::memory_order_acquire)) {
    notes.push_back(access + ": " + std::to_string(met_->readers_without_ring) +
                    " workers read without io_uring: " + met_->no_ring_reason.data());
  }
  return notes;
}

std::vector<std::string> ExtentSource::notes() const {
  std::vector<std::string> notes = notes_;
  for (std::string& note : access_.notes()) notes.push_back(std::move(note));
  return notes;
}

// Samples of formats that store more with each than the sample: by any way of reading.

namespace {

class PartReader final : public SampleReader {
 public:
  PartReader(std::unique_ptr<SampleReader> extents, PartOfExtent part, const ReadCounts& counts)
      : extents_(std::move(extents)), part_(std::move(part)), counts_(counts) {}

  std::span<const std::byte> read(std::int64_t sample) override {
    const std::span<const std::byte> extent = extents_->read(sample);
    extent_bytes_ = std::ssize(extent);
    const std::span<const std::byte> part = part_(sample, extent);
    counts_.count_no_sample(extent_bytes_);
    counts_.count_sample(std::ssize(part));
    return part;
  }
  void expect(std::span<const std::int64_t> samples) override { extents_->expect(samples); }
  int readahead_limit() const override { return extents_->readahead_limit(); }
  void set_listener(SubstageListener& stages) override { extents_->set_listener(stages); }
  std::optional<Bytes> stored_bytes() const override { return extent_bytes_; }

 private:
  std::unique_ptr<SampleReader> extents_;
  PartOfExtent part_;
  const ReadCounts& counts_;
  Bytes extent_bytes_ = 0;
};

}  // namespace

std::unique_ptr<SampleReader> ExtentSource::make_reader_of_parts(PartOfExtent part) const {
  return std::make_unique<PartReader>(access_.make_reader(), std::move(part), access_.counts());
}

}  // namespace loaderscope::source
