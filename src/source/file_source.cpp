#include "source/file_source.h"

#include <algorithm>
#include <cstdio>
#include <utility>

#include "source/readers.h"
#include "source/registry.h"
#include "source/walk.h"

namespace loaderscope::source {
namespace {

constexpr std::int64_t kMostLookedAt = 16;  // files until one can be opened

// By the first file that can be opened: the others are most likely on the same file system, and
// readers look at each file that is not.
std::string refusal_of_direct_reads(const FileSource& files) {
  FileOpener opener(files);
  for (std::int64_t i = 0; i < std::min(kMostLookedAt, files.size()); ++i) {
    try {
      return files.kernel().direct_reads(opener.open(i).fd).refusal;
    } catch (const SampleError&) {  // the run will name it
    }
  }
  return "";
}

}  // namespace

FileSource::FileSource(const SourceOptions& options, std::vector<std::string> roots, Index index)
    : access_(options.access),
      queue_depth_(options.queue_depth),
      kernel_(options.kernel != nullptr ? *options.kernel : this_kernel()),
      largest_sample_(options.largest_sample),
      roots_(std::move(roots)),
      index_(std::move(index)),
      met_(place<Met>(shared_)) {
  if (index_.left_out() > 0) {
    notes_.push_back(std::to_string(index_.left_out()) +
                     " images beside the class folders belong to no class and are left out, as "
                     "torchvision does");
  }
}

std::string FileSource::describe(std::int64_t sample) const {
  std::string path;
  path_of(sample, path);
  return path;
}

void FileSource::path_of(std::int64_t sample, std::string& path) const {
  thread_local std::string name;
  const FolderEntry folder = index_.folder(index_.file(sample, name));
  path.clear();
  const auto append = [&path](std::string_view part) {
    if (!path.empty() && path.back() != '/' && !part.empty()) path += '/';
    path += part;
  };
  if (folder.root < roots_.size()) append(roots_[folder.root]);
  append(folder.relative);
  append(name);
}

std::unique_ptr<SampleReader> FileSource::make_reader() const {
  return access_row(access_).make(*this);
}

std::string FileSource::refusal_of_access() const {
  const AccessRow& row = access_row(access_);
  if (row.refusal != nullptr) {
    if (const auto reason = (kernel_.*row.refusal)()) return *reason;
  }
  return row.direct ? refusal_of_direct_reads(*this) : "";
}

void FileSource::settle_access() {
  const std::string reason = refusal_of_access();
  if (reason.empty()) return;
  notes_.push_back("--access " + std::string(name_of(access_)) +
                   " is not possible, files are read with pread: " + reason);
  access_ = FileAccess::pread;
}

void FileSource::count_reader_without_ring(const std::string& reason) const {
  if (met_->readers_without_ring.fetch_add(1) > 0) return;
  std::snprintf(met_->no_ring_reason.data(), met_->no_ring_reason.size(), "%s", reason.c_str());
  met_->knows_reason.store(true, std::memory_order_release);
}

std::vector<std::string> FileSource::notes() const {
  std::vector<std::string> notes = notes_;
  const std::string access = "--access " + std::string(name_of(access_));
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

}  // namespace loaderscope::source
