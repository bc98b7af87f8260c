// The interpreter of the program that is measured, by the part of its C interface that has the same
// layouts in all versions: the library is built without Python and runs in any. What is called here
// is called with the interpreter's lock.
#pragma once

#include <cstddef>

namespace loaderscope::guest::python {

struct Object;  // PyObject, of which nothing but its address is known
using Size = std::ptrdiff_t;

struct MethodDef {
  const char* name;
  void* function;
  int flags;
  const char* text;
};
struct MemberDef {
  const char* name;
  int type;
  Size offset;
  int flags;
  const char* text;
};
struct GetSetDef {
  const char* name;
  Object* (*get)(Object*, void*);
  int (*set)(Object*, Object*, void*);
  const char* text;
  void* closure;
};
struct TypeSlot {
  int slot;
  void* function;
};
struct TypeSpec {
  const char* name;
  int bytes;
  int item_bytes;
  unsigned flags;
  TypeSlot* slots;
};
using Visit = int (*)(Object*, void*);
using AuditHook = int (*)(const char* event, Object* arguments, void*);

inline constexpr int kFastCall = 0x80;  // flag of a method: (self, arguments, their number)
inline constexpr int kNoArguments = 0x4;

struct Symbols {
#define FUNCTION(result, name, arguments) result(*name) arguments = nullptr;
#define NEWER_FUNCTION(result, name, arguments) result(*name) arguments = nullptr;
#define OBJECT(name) Object* name = nullptr;
#define EXCEPTION(name) Object** name = nullptr;
#include "guest/library/python_symbols.def"
#undef FUNCTION
#undef NEWER_FUNCTION
#undef OBJECT
#undef EXCEPTION
};

// Looks up the symbols in the process. Returns null, or the name of a missing one. No symbol may be
// used then.
const char* find_symbols();
const Symbols& api();

// Returns the interpreter of the calling thread. Null before Python 3.9, whose interpreters share a
// lock.
void* current_interpreter();

Object* new_reference(Object* object);
// Raises a TypeError and returns null.
Object* refuse(const char* text);
bool is_exactly(Object* object, Object* type);

// Adds a callable to a dictionary under its name. `def` outlives it. Returns false with an
// exception raised.
bool add(Object* dictionary, MethodDef& def);
// Add callables to a dictionary, and return false with an exception raised. add_functions() adds
// the functions of api.h that take and return integers alone. add_timed_functions() adds the makers
// of timed functions.
bool add_functions(Object* dictionary);
bool add_timed_functions(Object* dictionary);
bool add_watch_opens(Object* dictionary);
bool add_moving_calls(Object* dictionary);
bool add_sample_lines(Object* dictionary);
bool add_count_collection(Object* dictionary);
bool add_finish(Object* dictionary);

}  // namespace loaderscope::guest::python
