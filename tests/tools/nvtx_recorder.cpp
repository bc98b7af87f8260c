// A pretend tool for the tests: NVTX loads it (NVTX_INJECTION64_PATH), and it writes every call as
// a line of JSON to the file named by NVTX_RECORDER_FILE. Built with the name of the CUDA driver,
// it is also the driver, which receives the begin and the end of a capture. NVTX_RECORDER_PLAIN: it
// knows no extensions, as older tools.
#define NVTX_NO_IMPL
#include <nvtx3/nvToolsExt.h>
#include <nvtx3/nvToolsExtCounters.h>
#include <nvtx3/nvToolsExtPayload.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <mutex>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace {

using nlohmann::json;

struct Field {
  std::string name;
  std::size_t offset;
};

struct State {
  std::mutex mutex;
  std::FILE* file = std::fopen(std::getenv("NVTX_RECORDER_FILE"), "a");  // several processes append
  std::deque<std::string> strings;  // a handle is the address of its string
  std::vector<std::vector<Field>> schemas;
  std::vector<std::string> counters;
  std::uint64_t ranges = 0;
};

State& state() {
  static auto* the_state = new State;  // outlives the threads that still call
  return *the_state;
}

void write(json call) {
  call["thread"] = ::syscall(SYS_gettid);
  std::fputs((call.dump() + "\n").c_str(), state().file);
  std::fflush(state().file);
}

template <class Handle>
Handle keep(const char* text) {
  return reinterpret_cast<Handle>(&state().strings.emplace_back(text));
}
std::string kept(const void* handle) { return *static_cast<const std::string*>(handle); }

json read_payload(const nvtxEventAttributes_t& event) {
  if (event.payloadType == NVTX_PAYLOAD_TYPE_INT64) return event.payload.llValue;
  if (event.payloadType != NVTX_PAYLOAD_TYPE_EXT) return nullptr;
  const auto* data = reinterpret_cast<const nvtxPayloadData_t*>(event.payload.ullValue);
  json payload = json::object();
  for (const Field& field : state().schemas.at(data->schemaId - 1)) {
    std::int64_t value = 0;
    std::memcpy(&value, static_cast<const char*>(data->payload) + field.offset, sizeof value);
    payload[field.name] = value;
  }
  return payload;
}

json call_with(const char* name, nvtxDomainHandle_t domain, const nvtxEventAttributes_t& event) {
  const bool registered = event.messageType == NVTX_MESSAGE_TYPE_REGISTERED;
  return {{"call", name},
          {"domain", kept(domain)},
          {"registered", registered},
          {"name", registered ? kept(event.message.registered) : event.message.ascii},
          {"payload", read_payload(event)}};
}

nvtxDomainHandle_t create_domain(const char* name) {
  const std::lock_guard lock(state().mutex);
  write({{"call", "domain"}, {"name", name}});
  return keep<nvtxDomainHandle_t>(name);
}

nvtxStringHandle_t register_string(nvtxDomainHandle_t domain, const char* text) {
  const std::lock_guard lock(state().mutex);
  write({{"call", "string"}, {"domain", kept(domain)}, {"name", text}});
  return keep<nvtxStringHandle_t>(text);
}

int push(nvtxDomainHandle_t domain, const nvtxEventAttributes_t* event) {
  const std::lock_guard lock(state().mutex);
  write(call_with("push", domain, *event));
  return 0;
}

int pop(nvtxDomainHandle_t domain) {
  const std::lock_guard lock(state().mutex);
  write({{"call", "pop"}, {"domain", kept(domain)}});
  return 0;
}

void mark(nvtxDomainHandle_t domain, const nvtxEventAttributes_t* event) {
  const std::lock_guard lock(state().mutex);
  write(call_with("mark", domain, *event));
}

nvtxRangeId_t start_range(nvtxDomainHandle_t domain, const nvtxEventAttributes_t* event) {
  const std::lock_guard lock(state().mutex);
  json call = call_with("start", domain, *event);
  call["range"] = ++state().ranges;
  write(call);
  return state().ranges;
}

void end_range(nvtxDomainHandle_t domain, nvtxRangeId_t range) {
  const std::lock_guard lock(state().mutex);
  write({{"call", "end"}, {"domain", kept(domain)}, {"range", range}});
}

void name_thread(std::uint32_t thread, const char* name) {
  const std::lock_guard lock(state().mutex);
  write({{"call", "name_thread"}, {"of", thread}, {"name", name}});
}

std::uint64_t register_schema(nvtxDomainHandle_t domain, const nvtxPayloadSchemaAttr_t* schema) {
  const std::lock_guard lock(state().mutex);
  auto& fields = state().schemas.emplace_back();
  for (std::size_t i = 0; i < schema->numEntries; ++i)
    fields.push_back({schema->entries[i].name, schema->entries[i].offset});
  write({{"call", "schema"}, {"domain", kept(domain)}, {"size", schema->payloadStaticSize}});
  return state().schemas.size();
}

std::uint64_t register_counter(nvtxDomainHandle_t domain, const nvtxCounterAttr_t* counter) {
  const std::lock_guard lock(state().mutex);
  state().counters.emplace_back(counter->name);
  write({{"call", "counter"}, {"domain", kept(domain)}, {"name", counter->name}});
  return state().counters.size();
}

void sample_counter(nvtxDomainHandle_t domain, std::uint64_t counter, std::int64_t value) {
  const std::lock_guard lock(state().mutex);
  write({{"call", "sample"},
         {"domain", kept(domain)},
         {"name", state().counters.at(counter - 1)},
         {"value", value}});
}

template <class Function>
void put(NvtxFunctionTable table, unsigned id, Function function) {
  *table[id] = reinterpret_cast<NvtxFunctionPointer>(function);
}

}  // namespace

#define EXPORTED extern "C" __attribute__((visibility("default")))

EXPORTED int InitializeInjectionNvtx2(NvtxGetExportTableFunc_t get_table) {
  const auto* callbacks =
      static_cast<const NvtxExportTableCallbacks*>(get_table(NVTX_ETID_CALLBACKS));
  NvtxFunctionTable core = nullptr, core2 = nullptr;
  unsigned size = 0;
  callbacks->GetModuleFunctionTable(NVTX_CB_MODULE_CORE, &core, &size);
  callbacks->GetModuleFunctionTable(NVTX_CB_MODULE_CORE2, &core2, &size);
  put(core, NVTX_CBID_CORE_NameOsThreadA, name_thread);
  put(core2, NVTX_CBID_CORE2_DomainCreateA, create_domain);
  put(core2, NVTX_CBID_CORE2_DomainRegisterStringA, register_string);
  put(core2, NVTX_CBID_CORE2_DomainRangePushEx, push);
  put(core2, NVTX_CBID_CORE2_DomainRangePop, pop);
  put(core2, NVTX_CBID_CORE2_DomainMarkEx, mark);
  put(core2, NVTX_CBID_CORE2_DomainRangeStartEx, start_range);
  put(core2, NVTX_CBID_CORE2_DomainRangeEnd, end_range);
  return 1;
}

EXPORTED int InitializeInjectionNvtxExtension(nvtxExtModuleInfo_t* module) {
  if (std::getenv("NVTX_RECORDER_PLAIN") != nullptr) return 0;
  std::intptr_t* slots = module->segments->functionSlots;
  if (module->moduleId == NVTX_EXT_PAYLOAD_MODULEID) {
    slots[NVTX3EXT_CBID_nvtxPayloadSchemaRegister] =
        reinterpret_cast<std::intptr_t>(register_schema);
    return 1;
  }
  if (module->moduleId == NVTX_EXT_COUNTERS_MODULEID) {
    slots[NVTX3EXT_CBID_nvtxCounterRegister] = reinterpret_cast<std::intptr_t>(register_counter);
    slots[NVTX3EXT_CBID_nvtxCounterSampleInt64] = reinterpret_cast<std::intptr_t>(sample_counter);
    return 1;
  }
  return 0;
}

EXPORTED int cuProfilerStart() {
  const std::lock_guard lock(state().mutex);
  write({{"call", "profiler start"}});
  return 0;
}

EXPORTED int cuProfilerStop() {
  const std::lock_guard lock(state().mutex);
  write({{"call", "profiler stop"}});
  return 0;
}
