#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <new>
#include <optional>

#include "source/access.h"
#include "source/read_progress.h"
#include "source/readers.h"

namespace loaderscope::source {
namespace {

class PreadReader final : public SampleReader {
 public:
  PreadReader(const Access& access, bool direct) : access_(access), opener_(access) {
    if (direct) direct_.emplace(access);
  }

  std::span<const std::byte> read(std::int64_t sample) override {
    const OpenExtent extent = opener_.open(sample);
    ReadProgress progress = direct_ ? direct_->begin(extent) : begin_cached(extent);
    const std::span<std::byte> bytes = buffer_.take(progress.buffer_bytes());
    read_on(extent, progress, bytes.data());
    return bytes.subspan(progress.lead(), extent.size);
  }
  // Past the page cache only to where blocks begin and end.
  std::span<const std::byte> read_to(std::int64_t sample, std::byte* place) override {
    if (direct_) return SampleReader::read_to(sample, place);
    const OpenExtent extent = opener_.open(sample);
    ReadProgress progress = begin_cached(extent);
    read_on(extent, progress, place);
    return {place, extent.size};
  }

 private:
  void read_on(const OpenExtent& extent, ReadProgress& progress, std::byte* to) {
    while (!progress.complete()) {
      const ssize_t got = ::pread(extent.object->fd, to + progress.place(), progress.length(),
                                  static_cast<off_t>(progress.offset()));
      if (got < 0 && errno == EINVAL && progress.alignment() > 1) {
        progress = direct_->give_up(extent);
      } else {
        progress.answered(got < 0 ? -errno : got);
        if (got > 0) access_.count_request(got);
      }
    }
  }

  const Access& access_;
  ExtentOpener opener_;
  std::optional<DirectSwitch> direct_;
  SampleBuffer buffer_;
};

}  // namespace

void SampleBuffer::Free::operator()(std::byte* p) const { std::free(p); }

std::span<std::byte> SampleBuffer::take(std::size_t bytes) {
  if (bytes > size_) {
    const std::size_t wanted = (std::max(bytes, size_ + size_ / 2) + kPage - 1) / kPage * kPage;
    bytes_.reset();
    size_ = 0;
    bytes_.reset(static_cast<std::byte*>(std::aligned_alloc(kPage, wanted)));
    if (!bytes_) throw std::bad_alloc();
    size_ = wanted;
  }
  return {bytes_.get(), bytes};
}

std::unique_ptr<SampleReader> make_pread_reader(const Access& access) {
  return std::make_unique<PreadReader>(access, false);
}

std::unique_ptr<SampleReader> make_direct_reader(const Access& access) {
  return std::make_unique<PreadReader>(access, true);
}

}  // namespace loaderscope::source
