#include "guest/library/python_abi.h"

#include <dlfcn.h>

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
