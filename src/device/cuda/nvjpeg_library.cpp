#include "device/cuda/nvjpeg_library.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <array>
#include <cstdlib>
#include <utility>

namespace loaderscope::cuda {
namespace {

using nvjpeg::Code;

// The oldest version that decodes regions of a batch, and the first that upsamples as libjpeg does.
constexpr std::pair kMinNvjpeg{11, 9}, kInterpolatesFrom{12, 1};
constexpr nvjpeg::Output kOutput = nvjpeg::Output::rgb_interleaved;
constexpr int kWholeSide = -1;
constexpr int kCpuThreads = 1;  // per batch; the engines need none

class LoadedNvjpeg : public Nvjpeg {
 public:
  LoadedNvjpeg(nvjpeg::Functions functions, LibraryVersion version, std::string path)
      : call_(functions), version_(version), path_(std::move(path)) {}

  LibraryVersion version() const override { return version_; }
  std::string path() const override { return path_; }

  Code make_handle(nvjpeg::Backend backend, nvjpeg::Allocator* device, nvjpeg::Allocator* pinned,
                   nvjpeg::Handle& handle) override {
    const bool interpolates =
        !version_.is_before(kInterpolatesFrom.first, kInterpolatesFrom.second);
    const unsigned flags = interpolates ? nvjpeg::kInterpolatedUpsampling : 0U;
    return call_.nvjpegCreateExV2(backend, device, pinned, flags, &handle);
  }
  Code free_handle(nvjpeg::Handle handle) override { return call_.nvjpegDestroy(handle); }
  Code count_engines(nvjpeg::Handle handle, unsigned& engines, unsigned& cores) override {
    return call_.nvjpegGetHardwareDecoderInfo(handle, &engines, &cores);
  }

  Code make_state(nvjpeg::Handle handle, nvjpeg::State& state) override {
    return call_.nvjpegJpegStateCreate(handle, &state);
  }
  Code free_state(nvjpeg::State state) override { return call_.nvjpegJpegStateDestroy(state); }
  Code make_header(nvjpeg::Handle handle, nvjpeg::Header& header) override {
    return call_.nvjpegJpegStreamCreate(handle, &header);
  }
  Code free_header(nvjpeg::Header header) override { return call_.nvjpegJpegStreamDestroy(header); }
  Code make_params(nvjpeg::Handle handle, nvjpeg::Params& params) override;
  Code free_params(nvjpeg::Params params) override {
    return call_.nvjpegDecodeParamsDestroy(params);
  }

  Code parse(nvjpeg::Handle handle, std::span<const std::byte> stored, nvjpeg::Header header,
             JpegFacts& facts) override;
  Code set_region(nvjpeg::Params params, const Region& region) override {
    return call_.nvjpegDecodeParamsSetROI(params, region.x, region.y, region.width, region.height);
  }
  Code set_whole_image(nvjpeg::Params params) override {
    return call_.nvjpegDecodeParamsSetROI(params, 0, 0, kWholeSide, kWholeSide);
  }
  Code ask_support(nvjpeg::Handle handle, nvjpeg::Header header, nvjpeg::Params params,
                   bool& is_supported) override {
    int answer = -1;
    const Code code = call_.nvjpegDecodeBatchedSupportedEx(handle, header, params, &answer);
    is_supported = code == Code::success && answer == nvjpeg::kSupported;
    return code;
  }

  Code allocate(nvjpeg::Handle handle, nvjpeg::State state, std::size_t batch, int width,
                int height) override {
    return call_.nvjpegDecodeBatchedPreAllocate(handle, state, static_cast<int>(batch), width,
                                                height, nvjpeg::Subsampling::s444, kOutput);
  }
  Code begin_batch(nvjpeg::Handle handle, nvjpeg::State state, std::size_t batch) override {
    return call_.nvjpegDecodeBatchedInitialize(handle, state, static_cast<int>(batch), kCpuThreads,
                                               kOutput);
  }
  Code decode(nvjpeg::Handle handle, nvjpeg::State state, const JpegBatch& batch,
              Stream stream) override {
    const auto cuda_stream = static_cast<nvjpeg::CudaStream>(stream.handle);
    return batch.params != nullptr
               ? call_.nvjpegDecodeBatchedEx(handle, state, batch.data, batch.lengths,
                                             batch.destinations, batch.params, cuda_stream)
               : call_.nvjpegDecodeBatched(handle, state, batch.data, batch.lengths,
                                           batch.destinations, cuda_stream);
  }

 private:
  nvjpeg::Functions call_;
  LibraryVersion version_;
  std::string path_;
};

Code LoadedNvjpeg::make_params(nvjpeg::Handle handle, nvjpeg::Params& params) {
  Code code = call_.nvjpegDecodeParamsCreate(handle, &params);
  if (code == Code::success) code = call_.nvjpegDecodeParamsSetOutputFormat(params, kOutput);
  if (code == Code::success)
    code = call_.nvjpegDecodeParamsSetExifOrientation(params, nvjpeg::Orientation::normal);
  return code;
}

Code LoadedNvjpeg::parse(nvjpeg::Handle handle, std::span<const std::byte> stored,
                         nvjpeg::Header header, JpegFacts& facts) {
  const auto* data = reinterpret_cast<const unsigned char*>(stored.data());
  Code code = call_.nvjpegJpegStreamParseHeader(handle, data, stored.size(), header);
  if (code == Code::success)
    code = call_.nvjpegJpegStreamGetFrameDimensions(header, &facts.width, &facts.height);
  if (code == Code::success)
    code = call_.nvjpegJpegStreamGetComponentsNum(header, &facts.components);
  if (code == Code::success) code = call_.nvjpegJpegStreamGetJpegEncoding(header, &facts.encoding);
  if (code == Code::success)
    code = call_.nvjpegJpegStreamGetChromaSubsampling(header, &facts.subsampling);
  return code;
}

// Returns the name of the first function that the library lacks, or "".
std::string load_functions(void* library, nvjpeg::Functions& functions) {
  std::string missing;
#define LOADERSCOPE_LOAD(name, parameters)                                  \
  functions.name = find_function<decltype(functions.name)>(library, #name); \
  if (functions.name == nullptr && missing.empty()) missing = #name;
  LOADERSCOPE_NVJPEG_FUNCTIONS(LOADERSCOPE_LOAD)
#undef LOADERSCOPE_LOAD
  return missing;
}

// Returns the file that the dynamic linker took for a name.
std::string path_of_function(const void* function, const std::string& name) {
  Dl_info found{};
  return ::dladdr(function, &found) != 0 && found.dli_fname != nullptr ? found.dli_fname : name;
}

// The library keeps threads and memory of the GPU, so that a usable one is never unloaded.
NvjpegLibrary load_one(const std::string& name, int driver) {
  void* library = open_library(name);
  if (library == nullptr) {
    const char* why = ::dlerror();
    const bool is_path = name.find('/') != name.npos;  // other names are only tried
    return {nullptr,
            is_path ? fmt::format("libnvjpeg cannot be loaded: {}.", why ? why : name) : ""};
  }
  nvjpeg::Functions functions;
  const std::string missing = load_functions(library, functions);
  if (functions.nvjpegGetProperty == nullptr)
    return {nullptr, fmt::format("{} is not nvJPEG: it lacks the function {}.", name, missing)};
  const LibraryVersion version = library_version(functions.nvjpegGetProperty);
  if (version.is_before(kMinNvjpeg.first, kMinNvjpeg.second)) {
    return {nullptr, fmt::format("{} is nvJPEG {}, which is too old: {}.{} or newer is needed; "
                                 "pip install nvidia-nvjpeg brings one.",
                                 name, version.text(), kMinNvjpeg.first, kMinNvjpeg.second)};
  }
  if (version.major > driver / 1000) {
    return {nullptr,
            fmt::format("{} is nvJPEG {}, which needs a driver for CUDA {}, and this driver is for "
                        "CUDA {}.{}; install a newer driver, or an older nvJPEG: pip install "
                        "nvidia-nvjpeg-cu12.",
                        name, version.text(), version.major, driver / 1000, driver % 1000 / 10)};
  }
  if (!missing.empty()) {
    return {nullptr, fmt::format("{} is nvJPEG {}, and it lacks the function {}; pip install "
                                 "nvidia-nvjpeg brings another one.",
                                 name, version.text(), missing)};
  }
  const auto* function = reinterpret_cast<const void*>(functions.nvjpegGetProperty);
  return {std::make_shared<LoadedNvjpeg>(functions, version, path_of_function(function, name)), ""};
}

}  // namespace

JpegEngines ask_for_engines(Nvjpeg& nvjpeg) {
  JpegEngines found;
  nvjpeg::Handle handle = nullptr;
  found.code = nvjpeg.make_handle(nvjpeg::Backend::hardware, nullptr, nullptr, handle);
  if (found.code != nvjpeg::Code::success) return found;
  found.code = nvjpeg.count_engines(handle, found.count, found.cores);
  nvjpeg.free_handle(handle);
  return found;
}

std::string name_of(nvjpeg::Code code) {
  static constexpr std::array kNames = {"SUCCESS",
                                        "NOT_INITIALIZED",
                                        "INVALID_PARAMETER",
                                        "BAD_JPEG",
                                        "JPEG_NOT_SUPPORTED",
                                        "ALLOCATOR_FAILURE",
                                        "EXECUTION_FAILED",
                                        "ARCH_MISMATCH",
                                        "INTERNAL_ERROR",
                                        "IMPLEMENTATION_NOT_SUPPORTED",
                                        "INCOMPLETE_BITSTREAM"};
  const auto number = static_cast<std::size_t>(code);
  return number < kNames.size() ? fmt::format("NVJPEG_STATUS_{}", kNames[number])
                                : fmt::format("nvJPEG status {}", static_cast<int>(code));
}

NvjpegLibrary load_nvjpeg(const std::vector<std::string>& libraries, int driver) {
  std::string reason;
  for (const std::string& name : libraries) {
    NvjpegLibrary loaded = load_one(name, driver);
    if (loaded.nvjpeg != nullptr) return loaded;
    if (reason.empty()) reason = loaded.reason;
  }
  if (reason.empty()) {
    reason =
        "libnvjpeg not found: it is in no folder of the dynamic linker, of CUDA toolkits or of "
        "Python's packages; pip install nvidia-nvjpeg, or set LOADERSCOPE_NVJPEG to its path.";
  }
  return {nullptr, reason};
}

std::vector<std::string> nvjpeg_libraries(const std::filesystem::path& toolkits,
                                          const std::vector<std::filesystem::path>& prefixes) {
  std::vector<std::string> libraries = {"libnvjpeg.so.13", "libnvjpeg.so.12"};
  const auto add = [&](const std::vector<std::string>& found) {
    libraries.insert(libraries.end(), found.begin(), found.end());
  };
  for (const std::string& toolkit : find_by_prefix(toolkits, "cuda"))
    add(find_by_prefix(std::filesystem::path(toolkit) / "lib64", "libnvjpeg.so"));
  add(find_in_packages(prefixes,
                       {"nvidia/cu13/lib/libnvjpeg.so.13", "nvidia/nvjpeg/lib/libnvjpeg.so.12"}));
  for (const auto& packages : package_folders(prefixes))
    add(find_by_prefix(packages / "torchvision.libs", "libnvjpeg"));
  return libraries;
}

const NvjpegLibrary& find_nvjpeg(int driver) {
  static const NvjpegLibrary found = [&] {
    const char* named = std::getenv("LOADERSCOPE_NVJPEG");
    if (named != nullptr && *named != '\0') return load_nvjpeg({named}, driver);
    return load_nvjpeg(nvjpeg_libraries("/usr/local", python_prefixes()), driver);
  }();
  return found;
}

}  // namespace loaderscope::cuda
