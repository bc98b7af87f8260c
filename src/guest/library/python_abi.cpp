#include "guest/library/python_abi.h"

#include <dlfcn.h>

#include <array>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "base/symbol.h"
#include "guest/library/api.h"

namespace loaderscope::guest::python {
namespace {

Symbols symbols;

template <class Pointer>
bool find(Pointer& place, const char* name) {
  return find_symbol(place, RTLD_DEFAULT, name);
}

}  // namespace

const char* find_symbols() {
#define FUNCTION(result, name, arguments) \
  if (!find(symbols.name, #name)) return #name;
#define NEWER_FUNCTION(result, name, arguments) find(symbols.name, #name);
#define OBJECT(name) \
  if (!find(symbols.name, #name)) return #name;
#define EXCEPTION(name) \
  if (!find(symbols.name, #name)) return #name;
#include "guest/library/python_symbols.def"
#undef FUNCTION
#undef NEWER_FUNCTION
#undef OBJECT
#undef EXCEPTION
  return nullptr;
}

const Symbols& api() { return symbols; }

void* current_interpreter() {
  return symbols.PyInterpreterState_Get != nullptr ? symbols.PyInterpreterState_Get() : nullptr;
}

Object* new_reference(Object* object) {
  symbols.Py_IncRef(object);
  return object;
}

Object* refuse(const char* text) {
  symbols.PyErr_SetString(*symbols.PyExc_TypeError, text);
  return nullptr;
}

bool is_exactly(Object* object, Object* type) {
  Object* own = symbols.PyObject_Type(object);
  symbols.Py_DecRef(own);  // the object holds it
  return own == type;
}

bool add(Object* dictionary, MethodDef& def) {
  Object* made = symbols.PyCFunction_NewEx(&def, nullptr, nullptr);
  if (made == nullptr) return false;
  const bool is_added = symbols.PyDict_SetItemString(dictionary, def.name, made) == 0;
  symbols.Py_DecRef(made);
  return is_added;
}

}  // namespace loaderscope::guest::python

const char* lsg_missing_symbol(void) { return loaderscope::guest::python::find_symbols(); }

void* lsg_python_functions(void) {
  using namespace loaderscope::guest::python;
  // the interpreter that owns the library's types and callables
  static void* const first = current_interpreter();
  if (current_interpreter() != first)
    return refuse("loaderscope looks into the first interpreter of a process only");
  Object* dictionary = api().PyDict_New();
  if (dictionary == nullptr) return nullptr;
  if (add_functions(dictionary) && add_timed_functions(dictionary) && add_watch_opens(dictionary) &&
      add_moving_calls(dictionary) && add_sample_lines(dictionary) &&
      add_count_collection(dictionary) && add_finish(dictionary))
    return dictionary;
  api().Py_DecRef(dictionary);
  return nullptr;
}

namespace loaderscope::guest::python {

// The functions of api.h as callables of Python's own, in place of ctypes, which takes several
// times as long as most of them do.

namespace {

template <class Type>
constexpr bool kIsNumber = std::is_integral_v<Type>;

template <auto function>
struct Called;

template <class Result, class... Arguments, Result (*function)(Arguments...)>
struct Called<function> {
  static constexpr bool kIsOfNumbers =
      (kIsNumber<Arguments> && ...) && (kIsNumber<Result> || std::is_void_v<Result>);

  static Object* call(Object*, Object* const* given, Size count) {
    if (count != sizeof...(Arguments)) return refuse("another number of arguments is wanted");
    return call_with(given, std::index_sequence_for<Arguments...>());
  }

 private:
  template <std::size_t... index>
  static Object* call_with([[maybe_unused]] Object* const* given, std::index_sequence<index...>) {
    const std::array<std::int64_t, sizeof...(index) + 1> numbers = {
        api().PyLong_AsLongLong(given[index])..., 0};
    if (sizeof...(index) > 0 && api().PyErr_Occurred() != nullptr) return nullptr;
    if constexpr (std::is_void_v<Result>) {
      function(static_cast<Arguments>(numbers[index])...);
      return new_reference(api()._Py_NoneStruct);
    } else {
      return api().PyLong_FromLongLong(function(static_cast<Arguments>(numbers[index])...));
    }
  }
};

template <auto function>
bool add_one(Object* dictionary, const char* name) {
  if constexpr (Called<function>::kIsOfNumbers) {
    static MethodDef def = {name, reinterpret_cast<void*>(Called<function>::call), kFastCall,
                            nullptr};
    return add(dictionary, def);
  }
  return true;
}

}  // namespace

bool add_functions(Object* dictionary) {
#define FUNCTION(name) \
  if (!add_one<lsg_##name>(dictionary, #name)) return false;
#include "guest/library/functions.def"
#undef FUNCTION
  return true;
}

}  // namespace loaderscope::guest::python
