// Abilities of nvJPEG on this GPU: loaderscope_nvjpeg_check LIBRARY IMAGE... prints JSON, with each
// back end: whether it can be made, its hardware engines, how many of the images it decodes per
// second, and whether it decodes a part of one, or a smaller one. The library is loaded, so that
// nothing depends on it.
#include <cuda_runtime_api.h>
#include <dlfcn.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace {

using nlohmann::json;
using Bytes = std::vector<unsigned char>;

// Constants of nvjpeg.h, which have not changed since CUDA 11.
constexpr int kRgbInterleaved = 5;
constexpr int kHalf = 1;  // half the width and half the height
constexpr int kSupported = 0;
constexpr std::size_t kBatch = 32;
constexpr int kThreads = 8;

struct Image {  // nvjpegImage_t
  unsigned char* channel[4] = {};
  std::size_t pitch[4] = {};
};

struct Backend {
  int number;
  const char* name;
};
constexpr Backend kBackends[] = {{0, "default"},           {1, "hybrid"},
                                 {2, "gpu-hybrid"},        {3, "hardware"},
                                 {4, "gpu-hybrid-device"}, {5, "hardware-device"}};

class Library {
 public:
  explicit Library(const char* path) : library_(::dlopen(path, RTLD_NOW | RTLD_LOCAL)) {}
  bool is_loaded() const { return library_ != nullptr; }

  // The status of a call; -1: the library has no such function.
  template <class... Arguments>
  int operator()(const char* name, Arguments... arguments) const {
    using Function = int (*)(Arguments...);
    const auto function = reinterpret_cast<Function>(::dlsym(library_, name));
    return function != nullptr ? function(arguments...) : -1;
  }

 private:
  void* library_;
};

std::string failed(const char* call, int status) {
  if (status == 0) return "";
  return std::string(call) + (status < 0 ? " is missing" : " gives " + std::to_string(status));
}

// Does a decoder of this back end take the image with these parameters?
bool is_supported(const Library& nvjpeg, void* handle, int backend, const Bytes& image, bool part) {
  void *decoder = nullptr, *stream = nullptr, *parameters = nullptr;
  int unsupported = 1;
  const bool is_ready =
      nvjpeg("nvjpegDecoderCreate", handle, backend, &decoder) == 0 &&
      nvjpeg("nvjpegJpegStreamCreate", handle, &stream) == 0 &&
      nvjpeg("nvjpegJpegStreamParse", handle, image.data(), image.size(), 0, 0, stream) == 0 &&
      nvjpeg("nvjpegDecodeParamsCreate", handle, &parameters) == 0;
  if (!is_ready) return false;
  const int set = part ? nvjpeg("nvjpegDecodeParamsSetROI", parameters, 16, 16, 64, 64)
                       : nvjpeg("nvjpegDecodeParamsSetScaleFactor", parameters, kHalf);
  return set == 0 &&
         nvjpeg("nvjpegDecoderJpegSupported", decoder, stream, parameters, &unsupported) == 0 &&
         unsupported == kSupported;
}

std::size_t count_pixels(const Library& nvjpeg, void* handle, const Bytes& image, int& width) {
  int channels = 0, subsampling = 0, widths[4] = {}, heights[4] = {};
  if (nvjpeg("nvjpegGetImageInfo", handle, image.data(), image.size(), &channels, &subsampling,
             &widths[0], &heights[0]) != 0)
    return 0;
  width = widths[0];
  return static_cast<std::size_t>(widths[0]) * static_cast<std::size_t>(heights[0]);
}

// Returns a copy on the GPU, or nullptr without enough memory.
unsigned char* copy_to_gpu(const Bytes& bytes) {
  void* place = nullptr;
  if (cudaMalloc(&place, bytes.size()) != cudaSuccess) return nullptr;
  cudaMemcpy(place, bytes.data(), bytes.size(), cudaMemcpyHostToDevice);
  return static_cast<unsigned char*>(place);
}

// Decodes all images in batches, twice: the first time is not counted.
double images_per_s(const Library& nvjpeg, void* handle, const std::vector<Bytes>& images,
                    bool takes_bytes_on_gpu, std::string& error) {
  void* state = nullptr;
  error = failed("nvjpegJpegStateCreate", nvjpeg("nvjpegJpegStateCreate", handle, &state));
  const std::size_t batch = std::min(kBatch, images.size());
  if (error.empty())
    error = failed("nvjpegDecodeBatchedInitialize",
                   nvjpeg("nvjpegDecodeBatchedInitialize", handle, state, static_cast<int>(batch),
                          kThreads, kRgbInterleaved));
  std::vector<Image> places(images.size());
  for (std::size_t i = 0; error.empty() && i < images.size(); ++i) {
    int width = 0;
    const std::size_t pixels = count_pixels(nvjpeg, handle, images[i], width);
    void* place = nullptr;
    if (pixels == 0 || cudaMalloc(&place, 3 * pixels) != cudaSuccess) error = "no place for images";
    places[i].channel[0] = static_cast<unsigned char*>(place);
    places[i].pitch[0] = 3 * static_cast<std::size_t>(width);
  }
  std::vector<const unsigned char*> bytes;
  for (const Bytes& image : images)
    bytes.push_back(takes_bytes_on_gpu ? copy_to_gpu(image) : image.data());
  double seconds = 0;
  std::size_t decoded = 0;
  for (int round = 0; error.empty() && round < 2; ++round) {
    const auto begin = std::chrono::steady_clock::now();
    decoded = 0;
    for (std::size_t first = 0; error.empty() && first + batch <= images.size(); first += batch) {
      std::vector<const unsigned char*> data;
      std::vector<std::size_t> sizes;
      for (std::size_t i = first; i < first + batch; ++i) {
        data.push_back(bytes[i]);
        sizes.push_back(images[i].size());
      }
      error = failed("nvjpegDecodeBatched",
                     nvjpeg("nvjpegDecodeBatched", handle, state, data.data(), sizes.data(),
                            &places[first], static_cast<cudaStream_t>(nullptr)));
      decoded += batch;
    }
    if (error.empty() && cudaDeviceSynchronize() != cudaSuccess) error = "the GPU failed";
    seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  }
  for (const Image& place : places) cudaFree(place.channel[0]);
  for (const unsigned char* place : bytes) {
    if (takes_bytes_on_gpu) cudaFree(const_cast<unsigned char*>(place));
  }
  return error.empty() && seconds > 0 ? static_cast<double>(decoded) / seconds : 0;
}

json look_at(const Library& nvjpeg, const Backend& backend, const std::vector<Bytes>& images) {
  void* handle = nullptr;
  void* none = nullptr;
  std::string error =
      failed("nvjpegCreateEx", nvjpeg("nvjpegCreateEx", backend.number, none, none, 0U, &handle));
  const bool created = error.empty();
  unsigned engines = 0, cores = 0;
  double rate = 0;
  bool part = false, smaller = false;
  if (created) {
    nvjpeg("nvjpegGetHardwareDecoderInfo", handle, &engines, &cores);
    part = is_supported(nvjpeg, handle, backend.number, images.front(), true);
    smaller = is_supported(nvjpeg, handle, backend.number, images.front(), false);
    const bool takes_bytes_on_gpu = std::string_view(backend.name).ends_with("-device");
    rate = images_per_s(nvjpeg, handle, images, takes_bytes_on_gpu, error);
  }
  return {{"name", backend.name}, {"created", created}, {"hardware_engines", engines},
          {"images_per_s", rate}, {"roi", part},        {"scale", smaller},
          {"error", error}};
}

std::string library_version(const Library& nvjpeg) {
  std::string version;
  for (int which = 0; which < 3; ++which) {
    int number = 0;
    nvjpeg("nvjpegGetProperty", which, &number);
    version += (which > 0 ? "." : "") + std::to_string(number);
  }
  return version;
}

}  // namespace

int main(int count, char** words) {
  if (count < 3) {
    std::fprintf(stderr, "usage: loaderscope_nvjpeg_check LIBRARY IMAGE...\n");
    return 64;
  }
  const Library nvjpeg(words[1]);
  if (!nvjpeg.is_loaded()) {
    std::fprintf(stderr, "loaderscope_nvjpeg_check: %s\n", ::dlerror());
    return 1;
  }
  if (const cudaError_t code = cudaFree(nullptr); code != cudaSuccess) {
    std::fprintf(stderr, "loaderscope_nvjpeg_check: no GPU: %s\n", cudaGetErrorName(code));
    return 1;
  }
  std::vector<Bytes> images;
  for (int i = 2; i < count; ++i) {
    std::ifstream file(words[i], std::ios::binary);
    images.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
  }
  json answer = {{"version", library_version(nvjpeg)}, {"backends", json::array()}};
  for (const Backend& backend : kBackends)
    answer["backends"].push_back(look_at(nvjpeg, backend, images));
  std::printf("%s\n", answer.dump().c_str());
}
