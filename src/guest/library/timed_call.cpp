#include "guest/library/timed_call.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <initializer_list>

#include "base/thread_meter.h"
#include "guest/library/observers.h"
#include "guest/library/this_thread.h"

namespace loaderscope::guest::python {
namespace {

// 0: it is none, or out of range.
Bytes object_number(Object* object) {
  if (!is_exactly(object, api().PyLong_Type)) return 0;
  const Bytes number = api().PyLong_AsLongLong(object);
  api().PyErr_Clear();
  return std::max<Bytes>(number, 0);
}

// Bytes of the result of a read: a bytes object, an array, or the number of bytes that it has
// stored.
Bytes result_bytes(Object* result) {
  if (is_exactly(result, api().PyBytes_Type) || is_exactly(result, api().PyByteArray_Type))
    return api().PyObject_Size(result);
  if (is_exactly(result, api().PyLong_Type)) return object_number(result);
  Object* size = api().PyObject_GetAttrString(result, "nbytes");
  if (size == nullptr) api().PyErr_Clear();
  const Bytes bytes = size != nullptr ? object_number(size) : 0;
  release_reference(size);
  return bytes;
}

void book_bytes(StageStack& stack, Timed& timed, Object* result) {
  if (stack.read_inside() > 0) timed.asks_system = true;
  if (!timed.asks_system) stack.set_read(result_bytes(result));
}

bool has_run(Object* before) {
  if (before == nullptr) return true;
  Object* result = api().PyObject_CallMethod(before, "__call__", nullptr);
  release_reference(result);
  return result != nullptr;
}

bool calls_instead(Timed& timed) {
  if (timed.instead == nullptr || ++timed.calls < timed.every) return false;
  timed.calls = 0;
  return true;
}

// Timed calls of a thread that makes no batch itself, one within the other.
struct HelperCalls {
  int depth = 0;
  Nanos named_inside = 0;
};
thread_local HelperCalls helper_calls;

// Runs in a thread that works for a thread that makes a batch, such as one of a pool. The outermost
// call takes the place of the maker's wait for it. Its CPU time is that of library threads.
template <class Call>
Object* run_in_helper(Timed& timed, const Call& run_it) {
  HelperCalls& calls = helper_calls;
  const Nanos named_around = calls.named_inside;
  calls.named_inside = 0;
  ++calls.depth;
  const Nanos begun = monotonic_now();
  Object* result = run_it(timed.instead != nullptr ? timed.instead : timed.original);
  const Nanos ended = monotonic_now();
  if (timed.has_name) std::atomic_ref(timed.spent) += ended - begun - calls.named_inside;
  calls.named_inside = named_around + (timed.has_name ? ended - begun : calls.named_inside);
  if (--calls.depth == 0) {
    Span span;
    span.begin = begun;
    span.end = ended;
    span.stage = timed.stage;
    if (library_threads::any_making()) operators::did(span);
  }
  return result;
}

bool is_of_helper(const Timed& timed) {
  const bool is_inner = helper_calls.depth > 0;
  if (timed.is_of_batch || (timed.is_part && is_inner)) return false;
  return is_inner || library_threads::any_making();
}

// `run_it` calls its argument. The stack is looked up again after the call, which may have forked.
template <class Call>
Object* run(Timed& timed, const Call& run_it) {
  if (timed.step_call != nullptr && trains_on_batch()) return run_it(timed.step_call);
  if (timed.only_in_step) return run_it(timed.original);
  StageStack* stack = stack_of_thread();
  if (stack == nullptr && is_of_helper(timed)) return run_in_helper(timed, run_it);
  if (stack == nullptr || !stack->takes_call(timed.is_part)) return run_it(timed.original);
  if (timed.is_of_batch) stack->sample(StageStack::kBetweenSamples);
  const StageStack::Call begun = stack->begin_call(timed.stage);
  Object* result = nullptr;
  if (has_run(timed.before)) result = run_it(calls_instead(timed) ? timed.instead : timed.original);
  stack = stack_of_thread();
  if (stack == nullptr) return result;
  if (timed.stage == Stage::read && result != nullptr) book_bytes(*stack, timed, result);
  const Nanos own = stack->end_call(begun, timed.has_name);
  if (timed.has_name) (timed.account != nullptr ? get_timed(timed.account) : timed).spent += own;
  return result;
}

}  // namespace

void release_reference(Object* object) {
  if (object != nullptr) api().Py_DecRef(object);
}

Object* call_quickly(Object* self, Object* const* arguments, std::size_t count, Object* names) {
  return run(get_timed(self), [&](Object* function) {
    return api().PyObject_Vectorcall(function, arguments, count, names);
  });
}

Object* call(Object* self, Object* arguments, Object* named) {
  return run(get_timed(self),
             [&](Object* function) { return api().PyObject_Call(function, arguments, named); });
}

// Types of the objects that replace timed functions. Code that inspects such an object sees the
// function. The object shows and stores the function's attributes, reports its type, and is pickled
// as the function.

namespace {

// Slot numbers of the stable interface.
enum Slot {
  kCall = 50,
  kDealloc = 52,
  kGet = 54,
  kGetAttribute = 58,
  kMethods = 64,
  kNew = 65,
  kRepr = 66
};
enum LaterSlot { kSetAttribute = 69, kTraverse = 71, kMembers = 72 };
constexpr unsigned kHasVectorcall = 1U << 11, kHasCollector = 1U << 14, kIsMethod = 1U << 17,
                   kHasVersion = 1U << 18;
constexpr int kIsSize = 19, kReadOnly = 1;  // flags of a member

Object* function_type;  // becomes a method in a class
Object* callable_type;  // never becomes a method

Object* bound(Object* self, Object* instance, Object*) {
  if (instance == nullptr || instance == api()._Py_NoneStruct) return new_reference(self);
  return api().PyMethod_New(self, instance);
}

bool is_any_of(Object* name, std::initializer_list<const char*> words) {
  for (const char* word : words) {
    if (api().PyUnicode_CompareWithASCIIString(name, word) == 0) return true;
  }
  return false;
}

// torch.jit is to compile what it stands for.
Object* attribute(Object* self, Object* name) {
  if (is_any_of(name, {"__wrapped__", "__original_fn"}))
    return new_reference(get_timed(self).original);
  if (is_any_of(name, {"__script_if_tracing_wrapper"})) return new_reference(api()._Py_TrueStruct);
  if (is_any_of(name, {"__call__", "__get__", "__reduce__", "__reduce_ex__"}))
    return api().PyObject_GenericGetAttr(self, name);
  return api().PyObject_GetAttr(get_timed(self).original, name);
}

int set_attribute(Object* self, Object* name, Object* value) {
  return api().PyObject_SetAttr(get_timed(self).original, name, value);
}

Object* shown(Object* self) { return api().PyObject_Repr(get_timed(self).original); }

// A function of Python's is found by its name, where it is this; others say how they are.
Object* reduced(Object* self, Object*) {
  Object* original = get_timed(self).original;
  Object* code = api().PyObject_GetAttrString(original, "__code__");
  release_reference(code);
  if (code != nullptr) return api().PyObject_GetAttrString(original, "__qualname__");
  api().PyErr_Clear();
  return api().PyObject_CallMethod(original, "__reduce_ex__", "i", 4);
}

Object* refused(Object*, Object*, Object*) { return refuse("none is made but by loaderscope"); }

int traverse(Object* self, Visit visit, void* argument) {
  const Timed& timed = get_timed(self);
  for (Object* held :
       {timed.original, timed.before, timed.instead, timed.account, timed.step_call}) {
    const int found = held != nullptr ? visit(held, argument) : 0;
    if (found != 0) return found;
  }
  return 0;
}

void dealloc(Object* self) {
  Object* type = api().PyObject_Type(self);
  api().PyObject_GC_UnTrack(self);
  Timed& timed = get_timed(self);
  if (timed.weak_references != nullptr) api().PyObject_ClearWeakRefs(self);
  for (Object* held : {timed.original, timed.before, timed.instead, timed.account, timed.step_call})
    release_reference(held);
  api().PyObject_GC_Del(self);
  api().Py_DecRef(type);
  api().Py_DecRef(type);  // the object's own
}

template <class Function>
void* slot(Function function) {
  return reinterpret_cast<void*>(function);
}

// Omits the slot for binding if the type is not a method.
Object* make_type(const char* name, bool is_method) {
  static MethodDef methods[] = {{"__reduce__", slot(reduced), kNoArguments, nullptr}, {}};
  static MemberDef members[] = {
      {"__weaklistoffset__", kIsSize, Timed::header + Size{offsetof(Timed, weak_references)},
       kReadOnly, nullptr},
      {"__vectorcalloffset__", kIsSize, Timed::header + Size{offsetof(Timed, vectorcall)},
       kReadOnly, nullptr},
      {}};
  const bool is_quick = api().PyObject_Vectorcall != nullptr;
  TypeSlot slots[] = {{kCall, is_quick ? slot(api().PyVectorcall_Call) : slot(call)},
                      {kDealloc, slot(dealloc)},
                      {kGetAttribute, slot(attribute)},
                      {kSetAttribute, slot(set_attribute)},
                      {kMethods, methods},
                      {kMembers, members},
                      {kNew, slot(refused)},
                      {kRepr, slot(shown)},
                      {kTraverse, slot(traverse)},
                      {is_method ? static_cast<int>(kGet) : 0, slot(bound)},
                      {}};
  TypeSpec spec = {
      name, static_cast<int>(Timed::header + Size{sizeof(Timed)}), 0,
      kHasVersion | kHasCollector | (is_quick ? kHasVectorcall : 0) | (is_method ? kIsMethod : 0),
      slots};
  return api().PyType_FromSpec(&spec);
}

Object* reference_or_null(Object* given) {
  return given == api()._Py_NoneStruct ? nullptr : new_reference(given);
}

// (original, stage, is_part, has_name, is_method, counts_result, before, instead); the last two or
// None.
Object* make_timed(Object*, Object* const* given, Size count) {
  constexpr Size kNumbers = 5;
  if (count != kNumbers + 3) return refuse("timed takes 8 arguments");
  std::array<long long, kNumbers> numbers{};
  for (std::size_t index = 0; index < kNumbers; ++index)
    numbers[index] = api().PyLong_AsLongLong(given[index + 1]);
  if (api().PyErr_Occurred() != nullptr) return nullptr;
  Object* made = api().PyType_GenericAlloc(numbers[3] != 0 ? function_type : callable_type, 0);
  if (made == nullptr) return nullptr;
  get_timed(made) = {.vectorcall = call_quickly,
                     .weak_references = nullptr,
                     .original = new_reference(given[0]),
                     .before = reference_or_null(given[6]),
                     .instead = reference_or_null(given[7]),
                     .account = nullptr,
                     .step_call = nullptr,
                     .spent = 0,
                     .every = 1,
                     .calls = 0,
                     .stage = static_cast<Stage>(numbers[0]),
                     .is_part = numbers[1] != 0,
                     .has_name = numbers[2] != 0,
                     .is_of_batch = false,
                     .asks_system = numbers[4] == 0,
                     .only_in_step = false};
  return made;
}

bool is_timed(Object* object) {
  return is_exactly(object, function_type) || is_exactly(object, callable_type);
}

// Arguments: (timed, account, every). Marks a function that handles the batch after its samples.
// `account`, another result of `timed`, collects the time of its calls. One in `every` calls calls
// `instead`, starting with the first.
Object* handles_batch(Object*, Object* const* given, Size count) {
  if (count != 3 || !is_timed(given[0]) || !is_timed(given[1]))
    return refuse("handles_batch takes two of what timed has made");
  const long long every = api().PyLong_AsLongLong(given[2]);
  if (api().PyErr_Occurred() != nullptr) return nullptr;
  Timed& timed = get_timed(given[0]);
  release_reference(timed.account);
  timed.account = new_reference(given[1]);
  timed.is_of_batch = true;
  timed.every = timed.calls = static_cast<int>(every);
  return new_reference(api()._Py_NoneStruct);
}

// Arguments: (timed, call, only). `call` is called in place of the original by a thread that
// trains. `only`: all other threads call the original, and its time is not taken.
Object* set_step_call(Object*, Object* const* given, Size count) {
  if (count != 3 || !is_timed(given[0])) return refuse("set_step_call takes what timed has made");
  const long long only = api().PyLong_AsLongLong(given[2]);
  if (api().PyErr_Occurred() != nullptr) return nullptr;
  Timed& timed = get_timed(given[0]);
  release_reference(timed.step_call);
  timed.step_call = new_reference(given[1]);
  timed.only_in_step = only != 0;
  return new_reference(api()._Py_NoneStruct);
}

// Time of the calls in ns, without the named calls in them.
Object* spent_by(Object*, Object* const* given, Size count) {
  if (count != 1 || !is_timed(given[0])) return refuse("spent_by takes what timed has made");
  return api().PyLong_FromLongLong(get_timed(given[0]).spent);
}

bool make_types() {
  if (function_type != nullptr) return true;
  Object* size = api().PyObject_GetAttrString(api().PyBaseObject_Type, "__basicsize__");
  if (size == nullptr) return false;
  Timed::header = static_cast<Size>(api().PyLong_AsLongLong(size));
  api().Py_DecRef(size);
  callable_type = make_type("loaderscope_guest.timed_callable", false);
  if (callable_type == nullptr) return false;
  function_type = make_type("loaderscope_guest.timed_function", true);
  return function_type != nullptr;
}

}  // namespace

bool add_timed_functions(Object* dictionary) {
  static MethodDef timed = {"timed", slot(make_timed), kFastCall, nullptr};
  static MethodDef spent = {"spent_by", slot(spent_by), kFastCall, nullptr};
  static MethodDef handles = {"handles_batch", slot(handles_batch), kFastCall, nullptr};
  static MethodDef step_call = {"set_step_call", slot(set_step_call), kFastCall, nullptr};
  return make_types() && add(dictionary, timed) && add(dictionary, spent) &&
         add(dictionary, handles) && add(dictionary, step_call);
}

}  // namespace loaderscope::guest::python
