// The number and the duration of Python's garbage collections, counted by a callable of C. The
// interpreter discards what an entry of gc.callbacks raises. A function of Python there would run
// the program's signal handlers, which wait until the end of a collection, and lose their
// exceptions, such as a KeyboardInterrupt.
#include <array>
#include <atomic>

#include "base/thread_meter.h"
#include "guest/library/api.h"
#include "guest/library/python_abi.h"

namespace loaderscope::guest::python {
namespace collections {
namespace {

constexpr long long kFull = 2;  // the generation that holds all objects

enum Total { kSpent, kFullOnes, kSpentOnFull, kTotals };

// One thread collects at a time. Others may read.
std::array<std::atomic<std::int64_t>, kTotals> totals;
Nanos begun = 0;

bool is_full(Object* information) {
  Object* generation = api().PyDict_GetItemString(information, "generation");  // borrowed
  const bool is = generation != nullptr && is_exactly(generation, api().PyLong_Type) &&
                  api().PyLong_AsLongLong(generation) == kFull;
  if (generation == nullptr) api().PyErr_Clear();
  return is;
}

void end(Object* information) {
  const Nanos duration = monotonic_now() - begun;
  totals[kSpent] += duration;
  if (!is_full(information)) return;
  totals[kFullOnes] += 1;
  totals[kSpentOnFull] += duration;
}

// ("start" or "stop", information), as gc.callbacks are called.
Object* count_collection(Object*, Object* const* given, Size count) {
  if (count != 2) return refuse("count_collection takes two arguments");
  if (api().PyUnicode_CompareWithASCIIString(given[0], "start") == 0)
    begun = monotonic_now();
  else
    end(given[1]);
  return new_reference(api()._Py_NoneStruct);
}

}  // namespace
}  // namespace collections

bool add_count_collection(Object* dictionary) {
  static MethodDef def = {"count_collection",
                          reinterpret_cast<void*>(collections::count_collection), kFastCall,
                          nullptr};
  return add(dictionary, def);
}

}  // namespace loaderscope::guest::python

std::int64_t lsg_collected(int what) {
  using namespace loaderscope::guest::python::collections;
  return what >= 0 && what < kTotals ? totals[static_cast<std::size_t>(what)].load() : 0;
}
