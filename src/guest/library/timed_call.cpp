#include "guest/library/timed_call.h"

#include <algorithm>

#include "guest/library/this_thread.h"

namespace loaderscope::guest::python {
namespace {

// 0: it is none, or out of range.
Bytes number_in(Object* object) {
  if (!is_exactly(object, api().PyLong_Type)) return 0;
  const Bytes number = api().PyLong_AsLongLong(object);
  api().PyErr_Clear();
  return std::max<Bytes>(number, 0);
}

// Bytes of the result of a read: a bytes object, an array, or the number of bytes that it has
// stored.
Bytes bytes_in(Object* result) {
  if (is_exactly(result, api().PyBytes_Type) || is_exactly(result, api().PyByteArray_Type))
    return api().PyObject_Size(result);
  if (is_exactly(result, api().PyLong_Type)) return number_in(result);
  Object* size = api().PyObject_GetAttrString(result, "nbytes");
  if (size == nullptr) api().PyErr_Clear();
  const Bytes bytes = size != nullptr ? number_in(size) : 0;
  let_go(size);
  return bytes;
}

void tell_bytes(StageStack& stack, Timed& timed, Object* result) {
  if (stack.read_inside() > 0) timed.asks_system = true;
  if (!timed.asks_system) stack.tell_read(bytes_in(result));
}

bool has_run(Object* before) {
  if (before == nullptr) return true;
  Object* result = api().PyObject_CallMethod(before, "__call__", nullptr);
  let_go(result);
  return result != nullptr;
}

bool calls_instead(Timed& timed) {
  if (timed.instead == nullptr || ++timed.calls < timed.every) return false;
  timed.calls = 0;
  return true;
}

// `run_it` calls its argument. The stack is looked up again after the call, which may have forked.
template <class Call>
Object* run(Timed& timed, const Call& run_it) {
  StageStack* stack = stack_of_thread();
  if (stack == nullptr || !stack->takes_call(timed.is_part)) return run_it(timed.original);
  if (timed.is_of_batch) stack->sample(StageStack::kBetweenSamples);
  const StageStack::Call begun = stack->begin_call(timed.stage);
  Object* result = nullptr;
  if (has_run(timed.before)) result = run_it(calls_instead(timed) ? timed.instead : timed.original);
  stack = stack_of_thread();
  if (stack == nullptr) return result;
  if (timed.stage == Stage::read && result != nullptr) tell_bytes(*stack, timed, result);
  const Nanos own = stack->end_call(begun, timed.has_name);
  if (timed.has_name) (timed.account != nullptr ? timed_of(timed.account) : timed).spent += own;
  return result;
}

}  // namespace

void let_go(Object* object) {
  if (object != nullptr) api().Py_DecRef(object);
}

Object* call_quickly(Object* self, Object* const* arguments, std::size_t count, Object* names) {
  return run(timed_of(self), [&](Object* function) {
    return api().PyObject_Vectorcall(function, arguments, count, names);
  });
}

Object* call(Object* self, Object* arguments, Object* named) {
  return run(timed_of(self),
             [&](Object* function) { return api().PyObject_Call(function, arguments, named); });
}

}  // namespace loaderscope::guest::python
