// The end of a batch, with the bytes of what was made. A batch of a few tensors or arrays is sized
// here. Python walks any other.
#include <array>
#include <atomic>

#include "base/thread_meter.h"
#include "guest/library/api.h"
#include "guest/library/python_abi.h"
#include "guest/library/this_thread.h"
#include "guest/library/timed_call.h"

namespace loaderscope::guest::python {

namespace finished_batch {
namespace {

constexpr Size kMaxParts = 16;  // parts of a batch whose size is computed here: walks.FEW
constexpr Bytes kUnknown = -1, kRaised = -2;

// kUnknown: it has no bytes of its own. kRaised: with an exception that no one may swallow.
Bytes failed() {
  if (api().PyErr_ExceptionMatches(*api().PyExc_Exception) == 0) return kRaised;
  api().PyErr_Clear();
  return kUnknown;
}

Bytes bytes_of_part(Object* part) {
  static Object* const name = api().PyUnicode_InternFromString("nbytes");
  if (name == nullptr) return failed();
  Object* size = api().PyObject_GetAttr(part, name);
  if (size == nullptr) return failed();
  const bool is_number = is_exactly(size, api().PyLong_Type);
  const Bytes bytes = is_number ? api().PyLong_AsLongLong(size) : kUnknown;
  release_reference(size);
  if (bytes < 0 && api().PyErr_Occurred() != nullptr) return failed();
  return bytes < 0 ? kUnknown : bytes;
}

// Holds the part while it is sized: a property of the part may change the container.
Bytes bytes_of_held(Object* part) {
  api().Py_IncRef(part);
  const Bytes bytes = bytes_of_part(part);
  release_reference(part);
  return bytes;
}

// `part_at` returns null after the last part, with an exception raised.
template <class PartAt>
Bytes sum_of_parts(Size count, const PartAt& part_at) {
  if (count > kMaxParts) return kUnknown;
  Bytes sum = 0;
  for (Size index = 0; index < count; ++index) {
    Object* part = part_at(index);
    const Bytes bytes = part != nullptr ? bytes_of_held(part) : failed();
    if (bytes < 0) return bytes;
    sum += bytes;
  }
  return sum;
}

Bytes bytes_of_values(Object* dictionary) {
  const Size count = api().PyObject_Size(dictionary);
  Size place = 0;
  return sum_of_parts(count, [&](Size) -> Object* {
    Object *key = nullptr, *value = nullptr;
    if (api().PyDict_Next(dictionary, &place, &key, &value) != 0) return value;
    return refuse("the batch has changed");
  });
}

Bytes batch_bytes(Object* batch) {
  if (is_exactly(batch, api().PyList_Type))
    return sum_of_parts(api().PyObject_Size(batch),
                        [&](Size index) { return api().PyList_GetItem(batch, index); });
  if (is_exactly(batch, api().PyTuple_Type))
    return sum_of_parts(api().PyObject_Size(batch),
                        [&](Size index) { return api().PyTuple_GetItem(batch, index); });
  if (is_exactly(batch, api().PyDict_Type)) return bytes_of_values(batch);
  return bytes_of_part(batch);
}

// Arguments: (iterator, generation, worker, batch, continues_elsewhere, samples, data). Returns the
// end time of the work. A negative time means that the bytes are unknown, and that the caller must
// report GuestEventKind::finished.
Object* finish(Object*, Object* const* given, Size count) {
  constexpr Size kNumbers = 6;
  if (count != kNumbers + 1) return refuse("finish takes 7 arguments");
  std::array<std::int64_t, kNumbers> numbers{};
  for (std::size_t index = 0; index < kNumbers; ++index)
    numbers[index] = api().PyLong_AsLongLong(given[index]);
  if (api().PyErr_Occurred() != nullptr) return nullptr;
  const Nanos at = lsg_end_work(numbers[4] != 0);
  const Bytes bytes = batch_bytes(given[kNumbers]);
  if (bytes == kRaised) return nullptr;
  if (bytes == kUnknown) return api().PyLong_FromLongLong(-at);
  lsg_fact(static_cast<int>(GuestEventKind::finished), static_cast<std::int32_t>(numbers[0]),
           static_cast<std::int32_t>(numbers[1]), static_cast<std::int32_t>(numbers[2]), numbers[3],
           at, 0, 0, numbers[5], bytes);
  lsg_took(at);
  return api().PyLong_FromLongLong(at);
}

}  // namespace
}  // namespace finished_batch

bool add_finish(Object* dictionary) {
  static MethodDef def = {"finish", reinterpret_cast<void*>(finished_batch::finish), kFastCall,
                          nullptr};
  return add(dictionary, def);
}

// The number and the duration of Python's garbage collections, counted by a callable of C. The
// interpreter discards what an entry of gc.callbacks raises. A function of Python there would run
// the program's signal handlers, which wait until the end of a collection, and lose their
// exceptions, such as a KeyboardInterrupt.

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
