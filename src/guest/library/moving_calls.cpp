// The type of objects that replace the methods of torch.Tensor that may copy to a device. Most
// calls copy nothing. They are recognized here and cost little. Such an object equals its method,
// so that a tensor subclass finds it in a set of methods. It is never destroyed.
#include <array>

#include "guest/library/api.h"
#include "guest/library/python_abi.h"
#include "guest/library/this_thread.h"
#include "guest/library/timed_call.h"

namespace loaderscope::guest::python {
namespace moving_calls {
namespace {

enum Slot { kCall = 50, kGet = 54, kGetAttribute = 58, kHash = 59, kNew = 65, kRepr = 66 };
enum LaterSlot { kCompare = 67, kMembers = 72 };
constexpr unsigned kHasVectorcall = 1U << 11, kIsMethod = 1U << 17, kHasVersion = 1U << 18;
constexpr int kIsSize = 19, kReadOnly = 1;  // flags of a member
constexpr int kEqual = 2, kNotEqual = 3;    // operators of a comparison
constexpr std::size_t kIsOffset = std::size_t{1} << (8 * sizeof(std::size_t) - 1);

enum Method { kTo, kCuda, kCopy };

thread_local bool step_is_open = false;

struct Moving {
  Object* (*vectorcall)(Object*, Object* const*, std::size_t, Object*);
  Object* original;
  Object* slow;       // called in place of `original` if data may be copied
  Object* is_cpu;     // name of the attribute is_cpu
  Object* modes;      // returns the number of function modes; None: unknown
  Object* tensor;     // type of tensors
  Object* parameter;  // type of parameters
  Object* dtype;      // type of number types
  Object* device;     // type of devices
  long long method;

  static inline Size header = 0;  // bytes of any object; ours follow
};

Moving& get_moving(Object* self) {
  return *reinterpret_cast<Moving*>(reinterpret_cast<std::byte*>(self) + Moving::header);
}

// A class of the program, or a mode, must not see that we look at its tensors.
bool may_look_at(const Moving& moving, Object* tensor) {
  return is_exactly(tensor, moving.tensor) || is_exactly(tensor, moving.parameter);
}

bool has_modes(const Moving& moving) {
  if (moving.modes == api()._Py_NoneStruct) return true;
  Object* count = api().PyObject_Vectorcall(moving.modes, nullptr, 0, nullptr);
  if (count == nullptr) api().PyErr_Clear();
  const bool has = count == nullptr || api().PyLong_AsLongLong(count) != 0;
  release_reference(count);
  return has;
}

enum class Place { unknown, host, elsewhere };

Place find_place(const Moving& moving, Object* tensor) {
  if (!may_look_at(moving, tensor) || has_modes(moving)) return Place::unknown;
  Object* answer = api().PyObject_GetAttr(tensor, moving.is_cpu);
  if (answer == nullptr) api().PyErr_Clear();
  const Place place = answer == api()._Py_TrueStruct    ? Place::host
                      : answer == api()._Py_FalseStruct ? Place::elsewhere
                                                        : Place::unknown;
  release_reference(answer);
  return place;
}

bool is_word(Object* text, const char* word) {
  return api().PyUnicode_CompareWithASCIIString(text, word) == 0;
}

// A torch.device or its name.
bool is_host(const Moving& moving, Object* device) {
  if (is_exactly(device, api().PyUnicode_Type)) return is_word(device, "cpu");
  if (!is_exactly(device, moving.device)) return false;
  Object* kind = api().PyObject_GetAttrString(device, "type");
  if (kind == nullptr) api().PyErr_Clear();
  const bool is = kind != nullptr && is_exactly(kind, api().PyUnicode_Type) && is_word(kind, "cpu");
  release_reference(kind);
  return is;
}

// The argument that names the target, by position or by name. Null if it is missing.
Object* find_target(Object* const* given, std::size_t count, Object* names) {
  if (count > 1) return given[1];
  const Size named = names != nullptr ? api().PyObject_Size(names) : 0;
  for (Size index = 0; index < named; ++index) {
    Object* name = api().PyTuple_GetItem(names, index);
    if (is_word(name, "device") || is_word(name, "other"))
      return given[count + static_cast<std::size_t>(index)];
  }
  return nullptr;
}

bool copies_nothing_by_to(const Moving& moving, Object* const* given, std::size_t count,
                          Object* names) {
  Object* target = find_target(given, count, names);
  if (target == nullptr || target == api()._Py_NoneStruct || is_exactly(target, moving.dtype) ||
      is_host(moving, target))
    return true;
  if (may_look_at(moving, target) && find_place(moving, target) == Place::host) return true;
  return find_place(moving, given[0]) == Place::elsewhere;
}

bool copies_nothing(const Moving& moving, Object* const* given, std::size_t count, Object* names) {
  if (!step_is_open || count == 0) return true;
  if (moving.method == kTo) return copies_nothing_by_to(moving, given, count, names);
  if (moving.method == kCuda) return find_place(moving, given[0]) == Place::elsewhere;
  return find_place(moving, given[0]) == Place::host ||
         (count > 1 && find_place(moving, given[1]) == Place::elsewhere);
}

Object* call_quickly(Object* self, Object* const* arguments, std::size_t count, Object* names) {
  const Moving& moving = get_moving(self);
  const bool nothing = copies_nothing(moving, arguments, count & ~kIsOffset, names);
  return api().PyObject_Vectorcall(nothing ? moving.original : moving.slow, arguments, count,
                                   names);
}

// Handles calls for an interpreter without PyObject_Vectorcall.
Object* call(Object* self, Object* arguments, Object* named) {
  const Moving& moving = get_moving(self);
  return api().PyObject_Call(step_is_open ? moving.slow : moving.original, arguments, named);
}

Object* bound(Object* self, Object* instance, Object*) {
  if (instance == nullptr || instance == api()._Py_NoneStruct) return new_reference(self);
  return api().PyMethod_New(self, instance);
}

Object* attribute(Object* self, Object* name) {
  if (is_word(name, "__call__") || is_word(name, "__get__"))
    return api().PyObject_GenericGetAttr(self, name);
  return api().PyObject_GetAttr(get_moving(self).original, name);
}

Size hash(Object* self) { return api().PyObject_Hash(get_moving(self).original); }

Object* compare(Object* self, Object* other, int how) {
  if (how != kEqual && how != kNotEqual) return new_reference(api()._Py_NotImplementedStruct);
  const bool is_same = other == self || other == get_moving(self).original;
  if (!is_same) return new_reference(api()._Py_NotImplementedStruct);
  return new_reference(how == kEqual ? api()._Py_TrueStruct : api()._Py_FalseStruct);
}

Object* shown(Object* self) { return api().PyObject_Repr(get_moving(self).original); }

Object* refused(Object*, Object*, Object*) { return refuse("none is made but by loaderscope"); }

template <class Function>
void* slot(Function function) {
  return reinterpret_cast<void*>(function);
}

Object* make_type() {
  Object* size = api().PyObject_GetAttrString(api().PyBaseObject_Type, "__basicsize__");
  if (size == nullptr) return nullptr;
  Moving::header = static_cast<Size>(api().PyLong_AsLongLong(size));
  api().Py_DecRef(size);
  static MemberDef members[] = {
      {"__vectorcalloffset__", kIsSize, Moving::header + Size{offsetof(Moving, vectorcall)},
       kReadOnly, nullptr},
      {}};
  const bool is_quick = api().PyObject_Vectorcall != nullptr;
  TypeSlot slots[] = {{kCall, is_quick ? slot(api().PyVectorcall_Call) : slot(call)},
                      {kGet, slot(bound)},
                      {kGetAttribute, slot(attribute)},
                      {kHash, slot(hash)},
                      {kNew, slot(refused)},
                      {kRepr, slot(shown)},
                      {kCompare, slot(compare)},
                      {kMembers, members},
                      {}};
  TypeSpec spec = {"loaderscope_guest.device_copies",
                   static_cast<int>(Moving::header + Size{sizeof(Moving)}), 0,
                   kHasVersion | kIsMethod | (is_quick ? kHasVectorcall : 0), slots};
  return api().PyType_FromSpec(&spec);
}

// (original, slow, name of is_cpu, modes or None, types of tensors, parameters, numbers and
// devices, method).
Object* make_moving(Object*, Object* const* given, Size count) {
  static Object* type = make_type();
  constexpr std::size_t kReferences = 8;
  if (type == nullptr || count != Size{kReferences} + 1) return refuse("moving takes 9 arguments");
  std::array<Object*, kReferences> held{};
  for (std::size_t index = 0; index < kReferences; ++index)
    held[index] = new_reference(given[index]);
  const long long method = api().PyLong_AsLongLong(given[kReferences]);
  if (api().PyErr_Occurred() != nullptr) return nullptr;
  Object* made = api().PyType_GenericAlloc(type, 0);
  if (made == nullptr) return nullptr;
  get_moving(made) = {call_quickly, held[0], held[1], held[2], held[3],
                      held[4],      held[5], held[6], held[7], method};
  return new_reference(made);  // this reference is never released
}

}  // namespace
}  // namespace moving_calls

bool add_moving_calls(Object* dictionary) {
  using namespace moving_calls;
  static MethodDef def = {"moving", slot(make_moving), kFastCall, nullptr};
  return add(dictionary, def);
}

}  // namespace loaderscope::guest::python

bool loaderscope::guest::trains_on_batch() { return python::moving_calls::step_is_open; }

void lsg_step(int is_open) {
  loaderscope::guest::python::moving_calls::step_is_open = is_open != 0;
}
