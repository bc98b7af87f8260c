#include "machine/gpu_load.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <array>
#include <memory>
#include <type_traits>

#include "loaderscope/errors.h"

namespace loaderscope {

// Of nvml.h, which keeps them.
namespace nvml {

using Gpu = struct NvmlDevice*;
constexpr int kSuccess = 0, kTooSmall = 7;

struct Utilization {
  unsigned gpu, memory;  // percent
};
struct Memory {
  unsigned long long total, free, used;
};
struct Process {
  unsigned pid;
  unsigned long long memory;
  unsigned instance, compute_instance;
};

}  // namespace nvml

struct GpuLoads::Functions {
  int (*init)() = nullptr;
  int (*shutdown)() = nullptr;
  int (*count)(unsigned*) = nullptr;
  int (*handle)(unsigned, nvml::Gpu*) = nullptr;
  int (*name)(nvml::Gpu, char*, unsigned) = nullptr;
  int (*utilization)(nvml::Gpu, nvml::Utilization*) = nullptr;
  int (*memory)(nvml::Gpu, nvml::Memory*) = nullptr;
  int (*processes)(nvml::Gpu, unsigned*, nvml::Process*) = nullptr;  // null: a driver that is older

  // Of its PCIe link; null likewise.
  using Ask = int (*)(nvml::Gpu, unsigned*);
  Ask generation = nullptr, width = nullptr, most_generation = nullptr, most_width = nullptr;

  explicit Functions(void* library) {
    const auto find = [&](auto& function, const char* symbol) {
      function =
          reinterpret_cast<std::remove_reference_t<decltype(function)>>(::dlsym(library, symbol));
    };
    find(init, "nvmlInit_v2");
    find(shutdown, "nvmlShutdown");
    find(count, "nvmlDeviceGetCount_v2");
    find(handle, "nvmlDeviceGetHandleByIndex_v2");
    find(name, "nvmlDeviceGetName");
    find(utilization, "nvmlDeviceGetUtilizationRates");
    find(memory, "nvmlDeviceGetMemoryInfo");
    find(processes, "nvmlDeviceGetComputeRunningProcesses_v3");
    find(generation, "nvmlDeviceGetCurrPcieLinkGeneration");
    find(width, "nvmlDeviceGetCurrPcieLinkWidth");
    find(most_generation, "nvmlDeviceGetMaxPcieLinkGeneration");
    find(most_width, "nvmlDeviceGetMaxPcieLinkWidth");
  }
  bool are_there() const {
    return init != nullptr && shutdown != nullptr && count != nullptr && handle != nullptr &&
           name != nullptr && utilization != nullptr && memory != nullptr;
  }

  static int number_by(Ask ask, nvml::Gpu gpu) {
    constexpr unsigned kMost = 1024;
    unsigned number = 0;
    const bool is_told = ask != nullptr && ask(gpu, &number) == nvml::kSuccess && number <= kMost;
    return is_told ? static_cast<int>(number) : 0;
  }

  std::vector<pid_t> processes_on(nvml::Gpu gpu) const {
    std::array<nvml::Process, 64> found{};
    auto number = static_cast<unsigned>(found.size());
    if (processes == nullptr) return {};
    const int result = processes(gpu, &number, found.data());
    if (result != nvml::kSuccess && result != nvml::kTooSmall) return {};
    std::vector<pid_t> pids;
    for (unsigned i = 0; i < number && i < found.size(); ++i)
      pids.push_back(static_cast<pid_t>(found[i].pid));
    return pids;
  }
};

GpuLoads::GpuLoads(const std::string& library) {
  library_ = ::dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library_ == nullptr) {
    unavailable_ = fmt::format("no NVML here: {} cannot be loaded", shown_text(library));
    return;
  }
  auto functions = std::make_unique<Functions>(library_);
  if (!functions->are_there()) {
    unavailable_ = fmt::format("{} lacks functions of NVML", shown_text(library));
  } else if (const int error = functions->init(); error != nvml::kSuccess) {
    unavailable_ = fmt::format("NVML does not start (error {})", error);
  } else {
    functions_ = functions.release();
  }
}

GpuLoads::~GpuLoads() {
  if (functions_ != nullptr) functions_->shutdown();
  delete functions_;
  if (library_ != nullptr) ::dlclose(library_);
}

std::vector<GpuLoad> GpuLoads::read() const {
  std::vector<GpuLoad> loads;
  unsigned gpus = 0;
  if (functions_ == nullptr || functions_->count(&gpus) != nvml::kSuccess) return loads;
  for (unsigned i = 0; i < gpus; ++i) {
    nvml::Gpu gpu = nullptr;
    std::array<char, 97> name{};
    nvml::Utilization utilization{};
    nvml::Memory memory{};
    if (functions_->handle(i, &gpu) != nvml::kSuccess ||
        functions_->utilization(gpu, &utilization) != nvml::kSuccess ||
        functions_->memory(gpu, &memory) != nvml::kSuccess)
      continue;
    functions_->name(gpu, name.data(), static_cast<unsigned>(name.size() - 1));
    loads.push_back({name.data(),
                     utilization.gpu / 100.0,
                     static_cast<double>(memory.used),
                     static_cast<double>(memory.total),
                     functions_->processes_on(gpu),
                     {Functions::number_by(functions_->generation, gpu),
                      Functions::number_by(functions_->width, gpu)},
                     {Functions::number_by(functions_->most_generation, gpu),
                      Functions::number_by(functions_->most_width, gpu)}});
  }
  return loads;
}

}  // namespace loaderscope
