#include <unistd.h>

#include <cerrno>
#include <optional>

#include "source/direct_switch.h"
#include "source/readers.h"

namespace loaderscope::source {
namespace {

class PreadReader final : public SampleReader {
 public:
  PreadReader(const FileSource& source, bool direct) : opener_(source) {
    if (direct) direct_.emplace(source);
  }

  std::span<const std::byte> read(std::int64_t sample) override {
    const OpenFile file = opener_.open(sample);
    ReadProgress progress = direct_ ? direct_->begin(file) : ReadProgress(file.size);
    const std::span<std::byte> bytes = buffer_.take(progress.buffer_bytes());
    while (!progress.complete()) {
      const ssize_t got = ::pread(file.fd, bytes.data() + progress.offset(), progress.length(),
                                  static_cast<off_t>(progress.offset()));
      if (got < 0 && errno == EINVAL && progress.alignment() > 1) {
        progress = direct_->begin_cached(file);
      } else {
        progress.answered(got < 0 ? -errno : got);
      }
    }
    return bytes.first(file.size);
  }

 private:
  FileOpener opener_;
  std::optional<DirectSwitch> direct_;
  SampleBuffer buffer_;
};

}  // namespace

std::unique_ptr<SampleReader> make_pread_reader(const FileSource& source) {
  return std::make_unique<PreadReader>(source, false);
}

std::unique_ptr<SampleReader> make_direct_reader(const FileSource& source) {
  return std::make_unique<PreadReader>(source, true);
}

}  // namespace loaderscope::source
