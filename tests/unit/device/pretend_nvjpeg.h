// An nvJPEG that only pretends. It decodes with libjpeg, in the stream order of a pretended
// runtime: pixels are in device memory when the work of their call ends. It fails the test if
// stored bytes, arrays or parameters of the call change before that, or if a state is used while
// its last call runs. Stored bytes must lie where the back end reads them.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "device/cuda/nvjpeg_library.h"
#include "unit/device/pretend_runtime.h"

namespace loaderscope::cuda {

class PretendNvjpeg : public Nvjpeg {
 public:
  explicit PretendNvjpeg(PretendRuntime& runtime);

  // The script.
  unsigned engines = 7, cores = 1;  // no engines: as on a GPU without
  bool has_regions = true;
  Code device_backends_give = Code::success;  // result of a handle that reads device memory
  Nanos image_takes = 45 * kMicrosecond;      // on one core of an engine, or with CUDA
  double pixel_rate = 0;      // pixels per ns, in addition; 0: an image takes the same at any size
  bool writes_pixels = true;  // false: a call only takes its time
  Code damaged_gives = Code::execution_failed;  // a batch with an image that libjpeg cannot decode
  std::map<int, Code> call_gives;               // results of decode calls, counted from 1
  // The result of each batch that has this image.
  std::function<Code(std::span<const std::byte> stored)> image_gives;
  int hangs_at = 0;  // the decode call that never ends; 0: none
  int loses_at = 0;  // the decode call that loses the device; 0: none

  // The calls so far.
  int calls(const std::string& call) const;
  const std::vector<std::size_t>& batches() const { return batches_; }  // sizes of decode calls
  std::int64_t owned() const;  // handles, states, headers, parameters that are not freed

  LibraryVersion version() const override { return {13, 0, 1}; }
  std::string path() const override { return "/pretended/libnvjpeg.so.13"; }
  Code make_handle(nvjpeg::Backend backend, nvjpeg::Allocator* device, nvjpeg::Allocator* pinned,
                   nvjpeg::Handle& handle) override;
  Code free_handle(nvjpeg::Handle handle) override;
  Code count_engines(nvjpeg::Handle handle, unsigned& engine_count, unsigned& core_count) override;
  Code make_state(nvjpeg::Handle handle, nvjpeg::State& state) override;
  Code free_state(nvjpeg::State state) override;
  Code make_header(nvjpeg::Handle handle, nvjpeg::Header& header) override;
  Code free_header(nvjpeg::Header header) override;
  Code make_params(nvjpeg::Handle handle, nvjpeg::Params& params) override;
  Code free_params(nvjpeg::Params params) override;
  Code parse(nvjpeg::Handle handle, std::span<const std::byte> stored, nvjpeg::Header header,
             JpegFacts& facts) override;
  Code set_region(nvjpeg::Params params, const Region& region) override;
  Code set_whole_image(nvjpeg::Params params) override;
  Code ask_support(nvjpeg::Handle handle, nvjpeg::Header header, nvjpeg::Params params,
                   bool& is_supported) override;
  Code allocate(nvjpeg::Handle handle, nvjpeg::State state, std::size_t batch, int width,
                int height) override;
  Code begin_batch(nvjpeg::Handle handle, nvjpeg::State state, std::size_t batch) override;
  Code decode(nvjpeg::Handle handle, nvjpeg::State state, const JpegBatch& batch,
              Stream stream) override;

 private:
  struct PretendHandle {
    nvjpeg::Backend backend;
    std::optional<nvjpeg::Allocator> device, pinned;
  };
  struct PretendState {
    PretendHandle* handle = nullptr;
    std::size_t batch = 0;  // size from begin_batch
    std::shared_ptr<bool> is_busy = std::make_shared<bool>(false);
    void *memory = nullptr, *pinned = nullptr;
    std::size_t bytes = 0, pinned_bytes = 0;
  };
  struct PretendHeader {
    bool is_for_engines = false;
  };
  struct PretendParams {
    std::optional<Region> region;  // null: the whole image
  };
  // One image of a call, decoded, until the work ends.
  struct Decoded {
    const unsigned char* stored = nullptr;
    std::vector<unsigned char> bytes;  // copy of the stored bytes
    std::vector<std::uint8_t> rgb;
    std::size_t row = 0;
    nvjpeg::Image to;
    // Entries of the arrays of the call, which nvJPEG may read until the end.
    const unsigned char* const* data_entry = nullptr;
    const nvjpeg::Image* to_entry = nullptr;
    std::shared_ptr<PretendParams> params{};
    std::optional<Region> region{};

    void write() const;
  };

  void called(const std::string& call) { ++calls_[call]; }
  Code grow(PretendState& state, std::size_t bytes, std::size_t pinned_bytes);
  void release(PretendState& state);
  std::optional<Decoded> decode_one(const JpegBatch& batch, std::size_t i);
  Code find_result(const JpegBatch& batch);
  void lose_device();

  PretendRuntime& runtime_;
  std::unique_ptr<Decoder> libjpeg_;
  std::map<std::string, int> calls_;
  std::vector<std::size_t> batches_;
  std::map<void*, std::unique_ptr<PretendHandle>> handles_;
  std::map<void*, std::unique_ptr<PretendState>> states_;
  std::map<void*, std::unique_ptr<PretendHeader>> headers_;
  std::map<void*, std::shared_ptr<PretendParams>> params_;
};

}  // namespace loaderscope::cuda
