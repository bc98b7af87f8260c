#include <unistd.h>

#include <cerrno>

#include "source/readers.h"

namespace loaderscope::source {
namespace {

class PreadReader final : public SampleReader {
 public:
  explicit PreadReader(const FileSource& source) : opener_(source) {}

  std::span<const std::byte> read(std::int64_t sample) override {
    const OpenFile file = opener_.open(sample);
    const std::span<std::byte> bytes = buffer_.take(file.size);
    for (std::size_t done = 0; done < bytes.size();) {
      const ssize_t got =
          ::pread(file.fd, bytes.data() + done, bytes.size() - done, static_cast<off_t>(done));
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) throw cannot_read(errno);
      if (got == 0) throw shrank(done, bytes.size());
      done += static_cast<std::size_t>(got);
    }
    return bytes;
  }

 private:
  FileOpener opener_;
  SampleBuffer buffer_;
};

}  // namespace

std::unique_ptr<SampleReader> make_pread_reader(const FileSource& source) {
  return std::make_unique<PreadReader>(source);
}

}  // namespace loaderscope::source
