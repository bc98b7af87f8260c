#include "device/cuda/runtime.h"

#include <fmt/format.h>

#include <utility>

#include "loaderscope/errors.h"

namespace loaderscope::cuda {
namespace {

constexpr int kOldestMajor = 7, kOldestMinor = 5;  // compute capability that has kernels

struct Meaning {
  std::string_view name, cause, next_step;
};

constexpr std::string_view kSmaller =
    "use a smaller --batch-size or --in-flight, or end what else uses the GPU";
constexpr std::string_view kLost =
    "look into 'nvidia-smi' and the kernel's log for an Xid message, then run again";
constexpr std::string_view kLock =
    "use less memory (--batch-size, --prefetch-factor, --num-workers), or --memory pageable";

constexpr Meaning kMeanings[] = {
    {"cudaErrorMemoryAllocation", "out of memory", kSmaller},
    {"cudaErrorNoDevice", "there is no GPU", "give --device sim"},
    {"cudaErrorInsufficientDriver", "the NVIDIA driver is missing or too old",
     "install a newer one, or give --device sim"},
    {"cudaErrorNoKernelImageForDevice", "this GPU is of a kind that the program is not built for",
     "it needs compute capability 7.5 or newer; give --device sim"},
    {"cudaErrorCallRequiresNewerDriver", "the NVIDIA driver is too old for this program",
     "install a newer one, or give --device sim"},
    {"cudaErrorUnsupportedPtxVersion", "the NVIDIA driver is too old for this GPU's kernels",
     "install a newer one, or give --device sim"},
    {"cudaErrorDevicesUnavailable", "the GPU is taken by another process",
     "end that process, or choose another GPU with CUDA_VISIBLE_DEVICES"},
    {"cudaErrorECCUncorrectable", "the GPU was lost: its memory is damaged", kLost},
    {"cudaErrorNvlinkUncorrectable", "the GPU was lost: its NVLink failed", kLost},
    {"cudaErrorContained", "the GPU was lost: an error of its hardware was contained", kLost},
    {"cudaErrorLaunchFailure", "the GPU was lost: a kernel failed on it", kLost},
    {"cudaErrorIllegalAddress", "the GPU was lost: a kernel read where nothing is", kLost},
    {"cudaErrorHardwareStackError", "the GPU was lost: an error of its hardware", kLost},
    {"cudaErrorLaunchTimeout", "the GPU was lost: a kernel ran too long for its display driver",
     "give a shorter --compute, or use a GPU without a display"},
    {"cudaErrorUnknown", "the GPU was lost", kLost},
    {"cudaErrorHostMemoryAlreadyRegistered", "the memory is page-locked already", kLock},
    {"cudaErrorSystemDriverMismatch", "the NVIDIA driver's parts do not fit together",
     "restart the machine after a driver update, or give --device sim"},
    {"cudaErrorSystemNotReady", "the GPUs' fabric manager does not run",
     "start it (systemctl start nvidia-fabricmanager), or give --device sim"},
    {"cudaErrorStubLibrary", "the toolkit's stub of libcuda.so is found before the driver's own",
     "take the folder 'stubs' out of LD_LIBRARY_PATH"},
    {"cudaErrorInitializationError", "the NVIDIA driver cannot begin",
     "look at 'nvidia-smi', and start a container with its GPUs (--gpus all)"},
    {"cudaErrorOperatingSystem", "the kernel refuses the GPU to this program",
     "look at the rights of /dev/nvidia*, and start a container with its GPUs (--gpus all)"},
    {"cudaErrorMpsConnectionFailed", "the MPS server does not answer",
     "start nvidia-cuda-mps-control, or leave CUDA_MPS_PIPE_DIRECTORY out of the environment"},
    {"cudaErrorMpsServerNotReady", "the MPS server is starting or recovering from an error",
     "wait a moment, then run again"},
    {"cudaErrorCompatNotSupportedOnDevice", "the NVIDIA driver is too old for this program",
     "install a newer one, or give --device sim"},
};

// Returns 0 without a driver, as the runtime does.
int driver_version(Runtime& runtime) {
  int driver = 0, built_with = 0;
  return runtime.versions(driver, built_with).ok() ? driver : 0;
}

bool finds_none(const Status& counted, int count) {
  return counted.name == "cudaErrorNoDevice" || (counted.ok() && count == 0);
}

std::string version(int number) { return fmt::format("{}.{}", number / 1000, number % 1000 / 10); }

}  // namespace

std::string sentence(std::string_view place, const Status& status) {
  for (const Meaning& meaning : kMeanings) {
    if (meaning.name != status.name) continue;
    return fmt::format("{}: {} ({}); {}", place, meaning.cause, status.name, meaning.next_step);
  }
  return fmt::format("{}: the CUDA runtime failed ({}, code {}); give --device sim, or run again",
                     place, status.name, status.code);
}

void check(std::string_view place, const Status& status) {
  if (!status.ok()) throw RunError(sentence(place, status));
}

std::optional<std::string> why_no_gpu(Runtime* runtime) {
  if (runtime == nullptr) {
    return "built without the CUDA toolkit; install it (nvcc on the PATH or in /usr/local/cuda) "
           "and "
           "build again.";
  }
  int driver = 0, built_with = 0, count = 0;
  if (!runtime->versions(driver, built_with).ok() || driver == 0) {
    return "no NVIDIA driver here: libcuda.so.1 cannot be loaded; install the driver, or start the "
           "container with its GPUs (--gpus all).";
  }
  const Status counted = runtime->device_count(count);
  if (counted.name == "cudaErrorInsufficientDriver") {
    return fmt::format(
        "the NVIDIA driver is too old: it supports CUDA {}, and this program was built with {}; "
        "install a newer driver.",
        version(driver), version(built_with));
  }
  if (finds_none(counted, count)) {
    return "the NVIDIA driver finds no GPU; look at 'nvidia-smi' and CUDA_VISIBLE_DEVICES.";
  }
  if (!counted.ok()) return sentence("GPUs", counted) + ".";
  Properties first;
  if (const Status known = runtime->properties(0, first); !known.ok())
    return sentence("GPU 0", known) + ".";
  if (std::pair(first.major, first.minor) >= std::pair(kOldestMajor, kOldestMinor))
    return std::nullopt;
  return fmt::format(
      "GPU 0 ({}) has compute capability {}.{}, and this program needs {}.{} or newer; choose "
      "another GPU with CUDA_VISIBLE_DEVICES.",
      first.name, first.major, first.minor, kOldestMajor, kOldestMinor);
}

std::optional<std::string> why_gpu_unusable(Runtime* runtime) {
  int count = 0;
  if (runtime == nullptr || driver_version(*runtime) == 0) return std::nullopt;
  const Status counted = runtime->device_count(count);
  if (finds_none(counted, count)) return std::nullopt;
  return why_no_gpu(runtime);
}

}  // namespace loaderscope::cuda
