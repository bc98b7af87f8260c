// nvJPEG, loaded when the program runs. `Nvjpeg` is the seam between our decoder and the library:
// every call that is made of it. Tests hand in a pretended one.
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "device/cuda/library_search.h"
#include "device/cuda/nvjpeg_api.h"
#include "device/cuda/runtime.h"
#include "loaderscope/decode.h"

namespace loaderscope::cuda {

// Facts of the header of a JPEG image, by nvJPEG.
struct JpegFacts {
  unsigned width = 0, height = 0, components = 0;
  nvjpeg::Encoding encoding = nvjpeg::Encoding::unknown;
  nvjpeg::Subsampling subsampling = nvjpeg::Subsampling::unknown;
};

// The images of one call. All arrays have `count` entries, and stay as they are until the call has
// run on the device.
struct JpegBatch {
  std::size_t count = 0;
  const unsigned char* const* data = nullptr;  // stored bytes, where the back end reads them
  const std::size_t* lengths = nullptr;
  nvjpeg::Image* destinations = nullptr;
  nvjpeg::Params* params = nullptr;  // null: whole images, for back ends without parameters
};

// A handle belongs to the device that its thread has chosen. A state, a header and parameters
// belong to one thread. Images become interleaved RGB, and their orientation tag is ignored.
class Nvjpeg {
 public:
  using Code = nvjpeg::Code;
  virtual ~Nvjpeg() = default;

  virtual LibraryVersion version() const = 0;
  virtual std::string path() const = 0;

  // The allocators outlive the handle. Null: nvJPEG calls the CUDA runtime for memory.
  virtual Code make_handle(nvjpeg::Backend backend, nvjpeg::Allocator* device,
                           nvjpeg::Allocator* pinned, nvjpeg::Handle& handle) = 0;
  virtual Code free_handle(nvjpeg::Handle handle) = 0;
  virtual Code count_engines(nvjpeg::Handle handle, unsigned& engines, unsigned& cores) = 0;

  virtual Code make_state(nvjpeg::Handle handle, nvjpeg::State& state) = 0;
  virtual Code free_state(nvjpeg::State state) = 0;
  virtual Code make_header(nvjpeg::Handle handle, nvjpeg::Header& header) = 0;
  virtual Code free_header(nvjpeg::Header header) = 0;
  virtual Code make_params(nvjpeg::Handle handle, nvjpeg::Params& params) = 0;
  virtual Code free_params(nvjpeg::Params params) = 0;

  // Reads the header of an image in host memory, for every back end.
  virtual Code parse(nvjpeg::Handle handle, std::span<const std::byte> stored,
                     nvjpeg::Header header, JpegFacts& facts) = 0;
  virtual Code set_region(nvjpeg::Params params, const Region& region) = 0;
  virtual Code set_whole_image(nvjpeg::Params params) = 0;
  // Asks whether the engines decode the image that was parsed last.
  virtual Code ask_support(nvjpeg::Handle handle, nvjpeg::Header header, nvjpeg::Params params,
                           bool& is_supported) = 0;

  // Allocates the memory of a state for batches of images of this size.
  virtual Code allocate(nvjpeg::Handle handle, nvjpeg::State state, std::size_t batch, int width,
                        int height) = 0;
  // Prepares a state for the next batch, also after a failed one.
  virtual Code begin_batch(nvjpeg::Handle handle, nvjpeg::State state, std::size_t batch) = 0;
  // Submits the batch to the stream. One result for all images.
  virtual Code decode(nvjpeg::Handle handle, nvjpeg::State state, const JpegBatch& batch,
                      Stream stream) = 0;
};

// The JPEG engines of the chosen device.
struct JpegEngines {
  nvjpeg::Code code = nvjpeg::Code::success;  // result of the question
  unsigned count = 0, cores = 0;              // cores of each engine

  bool are_usable() const { return code == nvjpeg::Code::success && count > 0; }
  // False after other failures: it is not known whether the GPU has some.
  bool are_missing() const {
    return code == nvjpeg::Code::arch_mismatch || (code == nvjpeg::Code::success && count == 0);
  }
};
// Makes a handle for the question.
JpegEngines ask_for_engines(Nvjpeg& nvjpeg);

// The name of the result in nvjpeg.h, for messages: "NVJPEG_STATUS_ARCH_MISMATCH".
std::string name_of(nvjpeg::Code code);

// The library, or one sentence why it is not usable.
struct NvjpegLibrary {
  std::shared_ptr<Nvjpeg> nvjpeg;
  std::string reason;
};

// Loads the first usable library. `libraries`: names for the dynamic linker, or paths. `driver`:
// the newest CUDA that the driver supports, 13000 for 13.0.
NvjpegLibrary load_nvjpeg(const std::vector<std::string>& libraries, int driver);

// Loads the library that LOADERSCOPE_NVJPEG names, or else one of nvjpeg_libraries(). The result of
// the first call is kept, because a loaded library stays.
const NvjpegLibrary& find_nvjpeg(int driver);

// Finds nvJPEG for a driver, as find_nvjpeg() does.
using FindNvjpeg = std::function<NvjpegLibrary(int driver)>;

// Returns possible places of nvJPEG: the dynamic linker's own, toolkits below `toolkits`
// (/usr/local), and the packages of the Pythons that `prefixes` hold.
std::vector<std::string> nvjpeg_libraries(const std::filesystem::path& toolkits,
                                          const std::vector<std::filesystem::path>& prefixes);

}  // namespace loaderscope::cuda
