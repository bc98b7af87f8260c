#include "record/family_traits.h"

#include <algorithm>
#include <string>

#include "loaderscope/errors.h"

namespace loaderscope {
namespace {

struct EngineTraits {
  std::string_view name;
  EngineKind kind;
  std::optional<GuestTraits> guest;
};

constexpr EngineTraits kEngines[] = {
#define LOADERSCOPE_ENGINE(name, help, kind, guest, unavailable) {name, EngineKind::kind, guest},
#include "record/engines.def"
#undef LOADERSCOPE_ENGINE
};

struct DeviceTraits {
  std::string_view name;
  DeviceKind kind;
};

constexpr DeviceTraits kDevices[] = {
#define LOADERSCOPE_DEVICE(name, help, kind, unavailable, make) {name, DeviceKind::kind},
#include "record/devices.def"
#undef LOADERSCOPE_DEVICE
};

constexpr SourceTraits kSources[] = {
#define LOADERSCOPE_SOURCE(name, help, form, is_packed, smaller_pieces, ...) \
  {name, SampleForm::form, is_packed, smaller_pieces},
#include "record/sources.def"
#undef LOADERSCOPE_SOURCE
};

constexpr AccessTraits kAccessMethods[] = {
#define LOADERSCOPE_ACCESS_METHOD(name, is_direct, is_remote, ...) \
  {FileAccess::name, is_direct, is_remote},
#include "record/access_methods.def"
#undef LOADERSCOPE_ACCESS_METHOD
};

// Returns null for an unknown name.
template <class Traits, std::size_t N>
const Traits* find_traits(std::string_view name, const Traits (&table)[N]) {
  const auto* found = std::find_if(std::begin(table), std::end(table),
                                   [&](const Traits& traits) { return traits.name == name; });
  return found == std::end(table) ? nullptr : found;
}

bool is_engine_of(std::string_view name, EngineKind kind) {
  const EngineTraits* traits = find_traits(name, kEngines);
  return traits != nullptr && traits->kind == kind;
}

}  // namespace

EngineKind engine_kind(std::string_view name) {
  const EngineTraits* traits = find_traits(name, kEngines);
  if (traits == nullptr) throw RunError("engine = " + std::string(name) + ": there is none");
  return traits->kind;
}

std::optional<GuestTraits> guest_traits(std::string_view engine) {
  const EngineTraits* traits = find_traits(engine, kEngines);
  return traits == nullptr ? std::nullopt : traits->guest;
}

bool is_guest_engine(std::string_view name) { return is_engine_of(name, EngineKind::guest); }

bool is_native_engine(std::string_view name) { return is_engine_of(name, EngineKind::native); }

bool is_model_engine(std::string_view name) { return is_engine_of(name, EngineKind::model); }

bool is_trace_engine(std::string_view name) { return is_engine_of(name, EngineKind::trace); }

bool is_device_work_measured(const RunConfig& config) {
  return !is_model_engine(config.engine.value) &&
         device_kind(config.trainer.device.value) == DeviceKind::gpu;
}

DeviceKind device_kind(std::string_view name) {
  const DeviceTraits* traits = find_traits(name, kDevices);
  if (traits == nullptr) throw RunError("device = " + shown_text(name) + ": there is none");
  return traits->kind;
}

const SourceTraits& source_traits(std::string_view name) {
  const SourceTraits* traits = find_traits(name, kSources);
  return traits == nullptr ? kSources[0] : *traits;
}

const AccessTraits& access_traits(FileAccess access) {
  const auto* found =
      std::find_if(std::begin(kAccessMethods), std::end(kAccessMethods),
                   [&](const AccessTraits& traits) { return traits.access == access; });
  return found == std::end(kAccessMethods) ? kAccessMethods[0] : *found;
}

}  // namespace loaderscope
