// Images that nvJPEG refuses: decoded on the host and copied into device memory.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>

#include "device/cuda/device_objects.h"
#include "device/cuda/jpeg_chunk.h"
#include "device/cuda/nvjpeg_session.h"
#include "device/cuda/runtime.h"
#include "loaderscope/decode.h"
#include "loaderscope/errors.h"

namespace loaderscope::cuda {

class HostJpegs {
 public:
  // Takes page-locked memory for two images of at most `bytes`. `objects` outlives this object.
  HostJpegs(Runtime& runtime, DeviceObjects& objects, std::unique_ptr<Decoder> decoder,
            std::size_t bytes);

  // Takes page-locked memory for the stored bytes of a kept image: at most `bytes`.
  void reserve_stored(std::size_t bytes);

  // Decodes the region and submits its copy. The stored bytes of a kept image are copied back
  // before. `error` is set if the image has no pixels. Returns false if the limit came first.
  // Requires task.bytes() of at most `bytes`, and reserve_stored() for a kept image.
  bool decode(const JpegTask& task, Stream stream, const WaitLimit& limit,
              std::optional<SampleError>& error);
  // Waits for all copies. Returns false if the limit came first.
  bool wait(const WaitLimit& limit);

 private:
  struct Buffer {
    std::byte* place = nullptr;
    Event copied;
    bool is_used = false;
  };

  bool wait(Buffer& buffer, const WaitLimit& limit);
  bool copy_back(std::span<const std::byte> stored, Stream stream, const WaitLimit& limit);

  Runtime& runtime_;
  DeviceObjects& objects_;
  const std::unique_ptr<Decoder> decoder_;
  const std::size_t bytes_;
  std::array<Buffer, 2> buffers_;  // take turns: one is copied while the other is filled
  std::size_t next_ = 0;
  std::byte* stored_ = nullptr;  // page-locked; null: no image is kept
  std::size_t stored_bytes_ = 0;
  Event copied_back_;
};

}  // namespace loaderscope::cuda
