#include "device/cuda/nvjpeg_check.h"

#include <fmt/format.h>

#include <chrono>
#include <future>
#include <thread>
#include <utility>

#include "device/decode_ways.h"

namespace loaderscope {
namespace cuda {
namespace {

constexpr Nanos kAnswerTimeout = 10 * kSecond;

struct Engines {
  Status status;  // result of the CUDA runtime
  JpegEngines found;
};

Engines ask_gpu(Runtime& runtime, Nvjpeg& nvjpeg) {
  const Status status = runtime.set_device(0);
  return {status, status.ok() ? ask_for_engines(nvjpeg) : JpegEngines{}};
}

// Returns nothing if the driver did not answer.
std::optional<Engines> wait_for_engines(std::shared_ptr<Runtime> runtime,
                                        std::shared_ptr<Nvjpeg> nvjpeg, Nanos timeout) {
  std::promise<Engines> promise;
  std::future<Engines> answer = promise.get_future();
  std::thread([runtime = std::move(runtime), nvjpeg = std::move(nvjpeg),
               promise = std::move(promise)]() mutable {
    promise.set_value(ask_gpu(*runtime, *nvjpeg));
  }).detach();
  if (answer.wait_for(std::chrono::nanoseconds(timeout)) != std::future_status::ready)
    return std::nullopt;
  return answer.get();
}

NvjpegLibrary find_library(Runtime& runtime, const FindNvjpeg& find) {
  int driver = 0, built_with = 0;
  runtime.versions(driver, built_with);
  return find(driver);
}

std::string gpu_name(Runtime& runtime) {
  Properties properties;
  return runtime.properties(0, properties).ok() ? properties.name : "GPU 0";
}

}  // namespace

std::optional<std::string> why_no_nvjpeg(Runtime* runtime, const FindNvjpeg& find) {
  if (std::optional<std::string> reason = why_no_gpu(runtime)) return reason;
  const NvjpegLibrary library = find_library(*runtime, find);
  if (library.nvjpeg == nullptr) return library.reason;
  return std::nullopt;
}

std::optional<std::string> why_no_engines(const std::shared_ptr<Runtime>& runtime,
                                          const FindNvjpeg& find, Nanos timeout) {
  if (std::optional<std::string> reason = why_no_nvjpeg(runtime.get(), find)) return reason;
  const std::shared_ptr<Nvjpeg> nvjpeg = find_library(*runtime, find).nvjpeg;
  const std::string name = gpu_name(*runtime);
  const std::optional<Engines> engines = wait_for_engines(runtime, nvjpeg, timeout);
  if (!engines) {
    return fmt::format(
        "the driver of {} did not start nvJPEG within {}; search 'dmesg' for Xid, the word for an "
        "error of the driver.",
        name, format_duration(timeout));
  }
  if (!engines->status.ok()) return sentence(name, engines->status) + ".";
  const JpegEngines& found = engines->found;
  if (found.are_missing()) return name + " has no JPEG engines.";
  if (found.code == nvjpeg::Code::success) return std::nullopt;
  return fmt::format("nvJPEG {} ({}) does not start on {}: {}.", nvjpeg->version().text(),
                     nvjpeg->path(), name, name_of(found.code));
}

}  // namespace cuda

std::optional<std::string> why_no_gpu_decoding() {
  return cuda::why_no_nvjpeg(cuda::real_runtime().get(), cuda::find_nvjpeg);
}

std::optional<std::string> why_no_jpeg_engines() {
  static const std::optional<std::string> reason =
      cuda::why_no_engines(cuda::real_runtime(), cuda::find_nvjpeg, cuda::kAnswerTimeout);
  return reason;
}

std::span<const DecodeWayRow> decode_way_table() {
  static const DecodeWayRow kTable[] = {
#define LOADERSCOPE_DECODE_WAY(name, help, unavailable) {{name, help, unavailable}},
#include "record/decode_ways.def"
#undef LOADERSCOPE_DECODE_WAY
  };
  return kTable;
}

}  // namespace loaderscope
