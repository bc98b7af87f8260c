#include "device/cuda/host_jpegs.h"

#include <cstring>
#include <stdexcept>
#include <utility>

namespace loaderscope::cuda {

HostJpegs::HostJpegs(Runtime& runtime, DeviceObjects& objects, std::unique_ptr<Decoder> decoder,
                     std::size_t bytes)
    : runtime_(runtime), objects_(objects), decoder_(std::move(decoder)), bytes_(bytes) {
  for (Buffer& buffer : buffers_) {
    buffer.place = static_cast<std::byte*>(
        objects_.host_memory(bytes, "page-locked memory for images that the host decodes"));
    buffer.copied = objects_.event();
  }
}

void HostJpegs::reserve_stored(std::size_t bytes) {
  stored_ = static_cast<std::byte*>(
      objects_.host_memory(bytes, "page-locked memory for stored images of the GPU"));
  stored_bytes_ = bytes;
  copied_back_ = objects_.event();
}

bool HostJpegs::copy_back(std::span<const std::byte> stored, Stream stream,
                          const WaitLimit& limit) {
  if (stored.size() > stored_bytes_) throw std::logic_error("HostJpegs: an image is too large");
  objects_.check("copy of stored bytes",
                 runtime_.copy_to_host(stored_, stored.data(), stored.size(), stream));
  objects_.check("copy of stored bytes", runtime_.record(copied_back_, stream));
  return wait_within(runtime_, objects_, copied_back_, limit);
}

bool HostJpegs::decode(const JpegTask& task, Stream stream, const WaitLimit& limit,
                       std::optional<SampleError>& error) {
  if (task.bytes() > bytes_) throw std::logic_error("HostJpegs: a region is too large");
  Buffer& buffer = buffers_[next_];
  if (!wait(buffer, limit)) return false;
  if (task.is_kept && !copy_back(task.stored, stream, limit)) return false;
  const std::byte* const stored = task.is_kept ? stored_ : task.stored.data();
  try {
    const ImageHeader header = decoder_->open({stored, task.stored.size()});
    if (task.region.x + task.region.width > header.width ||
        task.region.y + task.region.height > header.height)
      throw SampleError(SampleError::Kind::damaged, "its header contradicts itself");
    const Pixels pixels = decoder_->decode(task.region);
    for (int y = 0; y < task.region.height; ++y) {
      const auto row = static_cast<std::size_t>(y);
      std::memcpy(buffer.place + row * task.stride, pixels.data + row * pixels.stride,
                  static_cast<std::size_t>(task.region.width) * 3);
    }
  } catch (const SampleError& damage) {
    error = damage;
    return true;
  }
  objects_.check("copy of an image",
                 runtime_.copy_to_device(task.to, buffer.place, task.bytes(), stream));
  objects_.check("copy of an image", runtime_.record(buffer.copied, stream));
  buffer.is_used = true;
  next_ = (next_ + 1) % buffers_.size();
  return true;
}

bool HostJpegs::wait(Buffer& buffer, const WaitLimit& limit) {
  return !buffer.is_used || wait_within(runtime_, objects_, buffer.copied, limit);
}

bool HostJpegs::wait(const WaitLimit& limit) {
  return wait(buffers_[0], limit) && wait(buffers_[1], limit);
}

}  // namespace loaderscope::cuda
