// NVTX's functions look for a tool at their first use and afterwards
// call it through pointers.
#include "nvtx/library.h"

#include <nvtx3/nvToolsExt.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cstddef>

// Both are extensions that came later than NVTX 3.0.
#if __has_include(<nvtx3/nvToolsExtPayload.h>)
#include <nvtx3/nvToolsExtPayload.h>
#define LOADERSCOPE_NVTX_PAYLOAD
#endif
#if __has_include(<nvtx3/nvToolsExtCounters.h>)
#include <nvtx3/nvToolsExtCounters.h>
#if NVTX_EXT_COUNTERS_COMPATID >= 0x0102  // older ones have other names
#define LOADERSCOPE_NVTX_COUNTERS
#endif
#endif

namespace loaderscope::nvtx::library {
namespace {

struct Tool {
  nvtxDomainHandle_t domain = nullptr;
  std::array<nvtxStringHandle_t, Label::kCount> names{};
  std::uint64_t payload_schema = 0;  // 0: the tool takes plain numbers only
};
Tool tool;  // written by connect() alone

std::uint64_t register_payload() {
#ifdef LOADERSCOPE_NVTX_PAYLOAD
  const std::array<nvtxPayloadSchemaEntry_t, 3> entries = {{
      {0, NVTX_PAYLOAD_ENTRY_TYPE_INT64, "batch", "dispatch index within the rank", 0,
       offsetof(Payload, batch), nullptr, nullptr},
      {0, NVTX_PAYLOAD_ENTRY_TYPE_INT64, "sample", "index in the data set", 0,
       offsetof(Payload, sample), nullptr, nullptr},
      {0, NVTX_PAYLOAD_ENTRY_TYPE_INT64, "bytes", "handled", 0, offsetof(Payload, bytes), nullptr,
       nullptr},
  }};
  nvtxPayloadSchemaAttr_t schema{};
  schema.fieldMask = NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NAME | NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_TYPE |
                     NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_ENTRIES |
                     NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NUM_ENTRIES |
                     NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_STATIC_SIZE;
  schema.name = "loaderscope";
  schema.type = NVTX_PAYLOAD_SCHEMA_TYPE_STATIC;
  schema.entries = entries.data();
  schema.numEntries = entries.size();
  schema.payloadStaticSize = sizeof(Payload);
  return nvtxPayloadSchemaRegister(tool.domain, &schema);
#else
  return 0;
#endif
}

nvtxEventAttributes_t event_named(nvtxStringHandle_t name) {
  nvtxEventAttributes_t event{};
  event.version = NVTX_VERSION;
  event.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  event.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
  event.message.registered = name;
  return event;
}

void set_number(nvtxEventAttributes_t& event, std::int64_t value) {
  event.payloadType = NVTX_PAYLOAD_TYPE_INT64;
  event.payload.llValue = value;
}

// Hands `send` the event with its payload: all of it, or the batch where the tool takes one number.
template <class Send>
void send_event(std::size_t label, const Payload& payload, const Send& send) {
  nvtxEventAttributes_t event = event_named(tool.names[label]);
#ifdef LOADERSCOPE_NVTX_PAYLOAD
  nvtxPayloadData_t data{};
  if (tool.payload_schema != 0) {
    NVTX_PAYLOAD_EVTATTR_SET_DATA(event, &data, tool.payload_schema, &payload, sizeof payload)
    send(event);
    return;
  }
#endif
  set_number(event, payload.batch);
  send(event);
}

}  // namespace

bool built() { return true; }

bool connect() {
  tool.domain = nvtxDomainCreateA("loaderscope");
  if (tool.domain == nullptr) return false;
  for (std::size_t label = 0; label < tool.names.size(); ++label)
    tool.names[label] = nvtxDomainRegisterStringA(tool.domain, name_of_label(label).c_str());
  tool.payload_schema = register_payload();
  return true;
}

void push(std::size_t label, const Payload& payload) {
  send_event(label, payload, [](const auto& event) { nvtxDomainRangePushEx(tool.domain, &event); });
}

void pop() { nvtxDomainRangePop(tool.domain); }

void mark(std::size_t label, const Payload& payload) {
  send_event(label, payload, [](const auto& event) { nvtxDomainMarkEx(tool.domain, &event); });
}

std::uint64_t start_range(std::size_t label) {
  const nvtxEventAttributes_t event = event_named(tool.names[label]);
  return nvtxDomainRangeStartEx(tool.domain, &event);
}

void end_range(std::uint64_t range) { nvtxDomainRangeEnd(tool.domain, range); }

std::uint64_t register_counter([[maybe_unused]] const char* name) {
#ifdef LOADERSCOPE_NVTX_COUNTERS
  nvtxCounterAttr_t counter{};
  counter.structSize = sizeof counter;
  counter.schemaId = NVTX_PAYLOAD_ENTRY_TYPE_INT64;
  counter.name = name;
  counter.scopeId = NVTX_SCOPE_CURRENT_VM;
  return nvtxCounterRegister(tool.domain, &counter);
#else
  return 0;
#endif
}

void sample_counter([[maybe_unused]] std::uint64_t counter, [[maybe_unused]] std::int64_t value) {
#ifdef LOADERSCOPE_NVTX_COUNTERS
  nvtxCounterSampleInt64(tool.domain, counter, value);
#endif
}

void* register_name(const char* name) { return nvtxDomainRegisterStringA(tool.domain, name); }

void mark_value(void* name, std::int64_t value) {
  nvtxEventAttributes_t event = event_named(static_cast<nvtxStringHandle_t>(name));
  set_number(event, value);
  nvtxDomainMarkEx(tool.domain, &event);
}

void name_thread(const char* name) {
  nvtxNameOsThreadA(static_cast<std::uint32_t>(::syscall(SYS_gettid)), name);
}

}  // namespace loaderscope::nvtx::library
