#include "dataset/stored_image.h"

#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/failure_text.h"
#include "base/fd.h"
#include "loaderscope/errors.h"

namespace loaderscope::dataset {

std::span<const std::byte> StoredImage::read(Bytes offset, std::size_t count) {
  const Bytes left = std::max<Bytes>(size - offset, 0);
  count = static_cast<std::size_t>(std::min<Bytes>(left, static_cast<Bytes>(count)));
  if (fd < 0 && of_server == nullptr)
    return count == 0 ? bytes.first(0) : bytes.subspan(static_cast<std::size_t>(offset), count);
  if (buffer.size() < count) buffer.resize(count);
  if (of_server != nullptr)
    return {buffer.data(), of_server->read(begin + offset, {buffer.data(), count})};
  const ReadAt got = read_at(fd, begin + offset, {buffer.data(), count});
  if (got.error != 0) error = got.error;
  return {buffer.data(), got.bytes};
}

int opened_file(const std::string& path) {
  int fd = -1;
  do {
    fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  } while (fd < 0 && errno == EINTR);
  return fd;
}

int cause_of(const std::string& path, int error) {
  const std::string remedy = exhaustion_hint(error);
  if (remedy.empty()) return error;
  throw RunError(shown_text(path) + ": cannot be read (" + std::string(std::strerror(error)) + ")",
                 remedy);
}

}  // namespace loaderscope::dataset
