#include "nvtx/library.h"

#include <nvtx3/nvToolsExt.h>

#include <cstring>

namespace loaderscope::nvtx::library {
namespace {

const Listener* observer = nullptr;
char domain;  // address is the handle of the observed domain

nvtxDomainHandle_t handle() { return reinterpret_cast<nvtxDomainHandle_t>(&domain); }

// Returns a handle only for the observed domain. Others, and the one without a name, get null.
nvtxDomainHandle_t NVTX_API make_domain(const char* name) {
  return name != nullptr && std::strcmp(name, observer->domain) == 0 ? handle() : nullptr;
}

const char* name_of(const nvtxEventAttributes_t* event) {
  const bool is_text = event != nullptr && event->messageType == NVTX_MESSAGE_TYPE_ASCII &&
                       event->message.ascii != nullptr;
  return is_text ? event->message.ascii : "";
}

int NVTX_API push_range(nvtxDomainHandle_t caller, const nvtxEventAttributes_t* event) {
  if (caller == handle()) observer->push(name_of(event));
  return NVTX_NO_PUSH_POP_TRACKING;
}

int NVTX_API pop_range(nvtxDomainHandle_t caller) {
  if (caller == handle()) observer->pop();
  return NVTX_NO_PUSH_POP_TRACKING;
}

template <class Function>
void set(NvtxFunctionTable table, unsigned int size, unsigned int number, Function function) {
  if (number < size) *table[number] = reinterpret_cast<NvtxFunctionPointer>(function);
}

}  // namespace

int listen(void* export_tables, const Listener& listener) {
  const auto get_table = reinterpret_cast<NvtxGetExportTableFunc_t>(export_tables);
  const auto* callbacks =
      static_cast<const NvtxExportTableCallbacks*>(get_table(NVTX_ETID_CALLBACKS));
  if (callbacks == nullptr || callbacks->struct_size < sizeof(*callbacks)) return 0;
  NvtxFunctionTable table = nullptr;
  unsigned int size = 0;
  if (callbacks->GetModuleFunctionTable(NVTX_CB_MODULE_CORE2, &table, &size) == 0) return 0;
  observer = &listener;
  set(table, size, NVTX_CBID_CORE2_DomainCreateA, make_domain);
  set(table, size, NVTX_CBID_CORE2_DomainRangePushEx, push_range);
  set(table, size, NVTX_CBID_CORE2_DomainRangePop, pop_range);
  return 1;
}

}  // namespace loaderscope::nvtx::library
