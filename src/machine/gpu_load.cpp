#include "machine/gpu_load.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <array>
#include <memory>

#include "base/symbol.h"
#include "loaderscope/errors.h"

namespace loaderscope {

// Copied from nvml.h, which keeps these values.
namespace nvml {

using Gpu = NvmlDevice*;
constexpr int kSuccess = 0, kTooSmall = 7;
constexpr int kMultiprocessors = 1;      // value of nvmlClockType_t
constexpr int kSent = 0, kReceived = 1;  // values of nvmlPcieUtilCounter_t

// Bits of nvmlClocksEventReasons.
constexpr unsigned long long kSetting = 0x2, kPowerCap = 0x4, kHardware = 0x8, kHeat = 0x20,
                             kHardwareHeat = 0x40, kPowerBrake = 0x80;

struct Utilization {
  unsigned gpu, memory;  // percent
};
struct Memory {
  unsigned long long total, free, used;
};
struct Pci {
  char legacy_address[16];
  unsigned domain, bus, device, ids, subsystem;
  char address[32];
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

  // Functions for its PCIe link; null with an older driver.
  using Ask = int (*)(nvml::Gpu, unsigned*);
  Ask generation = nullptr, width = nullptr, most_generation = nullptr, most_width = nullptr;

  // Functions for its details; null with an older driver.
  int (*pci)(nvml::Gpu, nvml::Pci*) = nullptr;
  int (*decoder)(nvml::Gpu, unsigned* percent, unsigned* period_us) = nullptr;
  int (*jpeg)(nvml::Gpu, unsigned* percent, unsigned* period_us) = nullptr;
  int (*clock)(nvml::Gpu, int type, unsigned* megahertz) = nullptr;
  int (*most_clock)(nvml::Gpu, int type, unsigned* megahertz) = nullptr;
  int (*traffic)(nvml::Gpu, int direction, unsigned* kilobytes_per_s) = nullptr;
  int (*reasons)(nvml::Gpu, unsigned long long*) = nullptr;

  GpuCounterReader counters;

  explicit Functions(void* library) : counters(library) {
    const auto find = [&](auto& function, const char* symbol) {
      find_symbol(function, library, symbol);
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
    find(pci, "nvmlDeviceGetPciInfo_v3");
    find(decoder, "nvmlDeviceGetDecoderUtilization");
    find(jpeg, "nvmlDeviceGetJpgUtilization");
    find(clock, "nvmlDeviceGetClockInfo");
    find(most_clock, "nvmlDeviceGetMaxClockInfo");
    find(traffic, "nvmlDeviceGetPcieThroughput");
    find(reasons, "nvmlDeviceGetCurrentClocksEventReasons");
    if (reasons == nullptr) find(reasons, "nvmlDeviceGetCurrentClocksThrottleReasons");
  }
  bool are_there() const {
    return init != nullptr && shutdown != nullptr && count != nullptr && handle != nullptr &&
           name != nullptr && utilization != nullptr && memory != nullptr;
  }

  static int number_by(Ask ask, nvml::Gpu gpu) {
    constexpr unsigned kMax = 1024;
    unsigned number = 0;
    const bool is_known = ask != nullptr && ask(gpu, &number) == nvml::kSuccess && number <= kMax;
    return is_known ? static_cast<int>(number) : 0;
  }

  // "00000000:3B:00.0" as the kernel's folders have it.
  std::string pci_address(nvml::Gpu gpu) const {
    nvml::Pci pci_facts{};
    if (pci == nullptr || pci(gpu, &pci_facts) != nvml::kSuccess) return "";
    return fmt::format("{:04x}:{:02x}:{:02x}.0", pci_facts.domain, pci_facts.bus, pci_facts.device);
  }

  template <class Ask, class Kind>
  static double asked(Ask ask, nvml::Gpu gpu, Kind kind, double unit) {
    unsigned value = 0;
    const bool is_known = ask != nullptr && ask(gpu, kind, &value) == nvml::kSuccess;
    return is_known ? value * unit : 0;
  }
  static std::optional<double> share_of_time(int (*ask)(nvml::Gpu, unsigned*, unsigned*),
                                             nvml::Gpu gpu) {
    unsigned percent = 0, period = 0;
    const bool is_known = ask != nullptr && ask(gpu, &percent, &period) == nvml::kSuccess;
    return is_known ? std::optional(percent / 100.0) : std::nullopt;
  }

  GpuDetails read_details(nvml::Gpu gpu) {
    constexpr double kKilo = 1e3;
    GpuDetails details;
    nvml::Utilization busy{};
    if (utilization(gpu, &busy) == nvml::kSuccess) details.memory_busy = busy.memory / 100.0;
    details.decoder = share_of_time(decoder, gpu);
    details.jpeg = share_of_time(jpeg, gpu);
    details.clock_mhz = asked(clock, gpu, nvml::kMultiprocessors, 1);
    details.most_clock_mhz = asked(most_clock, gpu, nvml::kMultiprocessors, 1);
    details.received = asked(traffic, gpu, nvml::kReceived, kKilo);
    details.sent = asked(traffic, gpu, nvml::kSent, kKilo);
    unsigned long long bits = 0;
    if (reasons != nullptr && reasons(gpu, &bits) == nvml::kSuccess)
      details.held = held_clocks(bits);
    details.counters = counters.look(gpu);
    details.no_counters = counters.why_not(gpu);
    return details;
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

// Hardware that slows clocks also sets the bit of its reason, if it knows one.
ClockThrottling held_clocks(unsigned long long reasons) {
  const auto has = [&](unsigned long long bits) { return (reasons & bits) != 0; };
  ClockThrottling held;
  held.power_limited = has(nvml::kPowerCap | nvml::kPowerBrake);
  held.heat_limited = has(nvml::kHeat | nvml::kHardwareHeat);
  held.hardware_limited = has(nvml::kHardware) && !held.power_limited && !held.heat_limited;
  held.setting_limited = has(nvml::kSetting);
  return held;
}

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
  if (functions_ != nullptr) {
    const auto shutdown = functions_->shutdown;
    delete functions_;  // gives back what the library holds for it
    shutdown();
  }
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
                      Functions::number_by(functions_->most_width, gpu)},
                     i,
                     functions_->pci_address(gpu)});
  }
  return loads;
}

GpuDetails GpuLoads::details(unsigned number) {
  nvml::Gpu gpu = nullptr;
  if (functions_ == nullptr || functions_->handle(number, &gpu) != nvml::kSuccess) return {};
  return functions_->read_details(gpu);
}

}  // namespace loaderscope
