// Our own declarations of the part of nvJPEG that we call. The library is loaded when the program
// runs, so that nothing of NVIDIA's is needed to build it. A test compares them with nvjpeg.h where
// that header is found.
#pragma once

#include <cstddef>

namespace loaderscope::cuda::nvjpeg {

// Result of each call: nvjpegStatus_t.
enum class Code : int {
  success = 0,
  not_initialised = 1,
  invalid_parameter = 2,
  bad_jpeg = 3,
  jpeg_not_supported = 4,
  allocator_failure = 5,
  execution_failed = 6,
  arch_mismatch = 7,
  internal_error = 8,
  implementation_not_supported = 9,
  incomplete_bitstream = 10,
};

// nvjpegBackend_t. `hardware` is the JPEG engines. It decodes baseline images of one scan, but not
// those of 4:1:0 and 4:1:1. The `device` forms read stored bytes in device memory. They support
// nvjpegDecodeBatched only, which decodes whole images. All of them parse headers in host memory.
enum class Backend : int {
  gpu_hybrid = 2,  // Huffman codes on the GPU too, in batches of more than 50 images
  hardware = 3,
  gpu_hybrid_device = 4,  // baseline images without restart intervals
  hardware_device = 5,
};

constexpr bool uses_engines(Backend backend) {
  return backend == Backend::hardware || backend == Backend::hardware_device;
}
// Stored bytes lie in device memory.
constexpr bool reads_device(Backend backend) {
  return backend == Backend::gpu_hybrid_device || backend == Backend::hardware_device;
}
// nvjpegDecodeBatchedEx takes parameters for each image, such as a region.
constexpr bool takes_params(Backend backend) { return backend == Backend::hardware; }

// nvjpegOutputFormat_t
enum class Output : int { rgb_interleaved = 5 };

// nvjpegExifOrientation_t. `normal` keeps the pixels as they are stored.
enum class Orientation : int { normal = 1 };

// nvjpegChromaSubsampling_t
enum class Subsampling : int {
  s444 = 0,
  s422 = 1,
  s420 = 2,
  s440 = 3,
  s411 = 4,
  s410 = 5,
  grey = 6,
  s410v = 7,
  unknown = -1,
};

// nvjpegJpegEncoding_t: the SOF marker of the image.
enum class Encoding : int {
  unknown = 0,
  baseline = 0xc0,
  extended = 0xc1,
  progressive = 0xc2,
  lossless = 0xc3,
};

// Upsamples chroma as libjpeg does. Known from 12.1 on.
inline constexpr unsigned kInterpolatedUpsampling = 1U << 5;

// Value of is_supported for an image that can be decoded.
inline constexpr int kSupported = 0;

inline constexpr std::size_t kMaxComponents = 4;

struct Image {  // nvjpegImage_t
  unsigned char* channel[kMaxComponents] = {};
  std::size_t pitch[kMaxComponents] = {};
};

// nvjpegDevAllocatorV2_t and nvjpegPinnedAllocatorV2_t. A function returns 0 for success. nvJPEG
// may call from several threads.
struct Allocator {
  int (*allocate)(void* context, void** place, std::size_t bytes, void* stream) = nullptr;
  int (*release)(void* context, void* place, std::size_t bytes, void* stream) = nullptr;
  void* context = nullptr;
};

using Handle = struct OpaqueHandle*;     // nvjpegHandle_t
using State = struct OpaqueState*;       // nvjpegJpegState_t
using Header = struct OpaqueHeader*;     // nvjpegJpegStream_t
using Params = struct OpaqueParams*;     // nvjpegDecodeParams_t
using CudaStream = struct CUstream_st*;  // cudaStream_t

// The functions that we call, as X(name, (parameters)). All return Code.
#define LOADERSCOPE_NVJPEG_FUNCTIONS(X)                                                            \
  X(nvjpegGetProperty, (int which, int* value))                                                    \
  X(nvjpegCreateExV2,                                                                              \
    (Backend backend, Allocator * device, Allocator * pinned, unsigned flags, Handle* handle))     \
  X(nvjpegDestroy, (Handle handle))                                                                \
  X(nvjpegGetHardwareDecoderInfo, (Handle handle, unsigned* engines, unsigned* cores))             \
  X(nvjpegJpegStateCreate, (Handle handle, State * state))                                         \
  X(nvjpegJpegStateDestroy, (State state))                                                         \
  X(nvjpegJpegStreamCreate, (Handle handle, Header * header))                                      \
  X(nvjpegJpegStreamDestroy, (Header header))                                                      \
  X(nvjpegJpegStreamParseHeader,                                                                   \
    (Handle handle, const unsigned char* data, std::size_t length, Header header))                 \
  X(nvjpegJpegStreamGetJpegEncoding, (Header header, Encoding * encoding))                         \
  X(nvjpegJpegStreamGetFrameDimensions, (Header header, unsigned* width, unsigned* height))        \
  X(nvjpegJpegStreamGetComponentsNum, (Header header, unsigned* components))                       \
  X(nvjpegJpegStreamGetChromaSubsampling, (Header header, Subsampling * subsampling))              \
  X(nvjpegDecodeParamsCreate, (Handle handle, Params * params))                                    \
  X(nvjpegDecodeParamsDestroy, (Params params))                                                    \
  X(nvjpegDecodeParamsSetOutputFormat, (Params params, Output format))                             \
  X(nvjpegDecodeParamsSetExifOrientation, (Params params, Orientation orientation))                \
  X(nvjpegDecodeParamsSetROI, (Params params, int x, int y, int width, int height))                \
  X(nvjpegDecodeBatchedSupportedEx,                                                                \
    (Handle handle, Header header, Params params, int* is_supported))                              \
  X(nvjpegDecodeBatchedPreAllocate, (Handle handle, State state, int batch, int width, int height, \
                                     Subsampling subsampling, Output format))                      \
  X(nvjpegDecodeBatchedInitialize,                                                                 \
    (Handle handle, State state, int batch, int max_cpu_threads, Output format))                   \
  X(nvjpegDecodeBatchedEx,                                                                         \
    (Handle handle, State state, const unsigned char* const* data, const std::size_t* lengths,     \
     Image* destinations, Params* params, CudaStream stream))                                      \
  X(nvjpegDecodeBatched, (Handle handle, State state, const unsigned char* const* data,            \
                          const std::size_t* lengths, Image* destinations, CudaStream stream))

// The functions of a loaded library.
struct Functions {
#define LOADERSCOPE_MEMBER(name, parameters) Code(*name) parameters = nullptr;
  LOADERSCOPE_NVJPEG_FUNCTIONS(LOADERSCOPE_MEMBER)
#undef LOADERSCOPE_MEMBER
};

}  // namespace loaderscope::cuda::nvjpeg
