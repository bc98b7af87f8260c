// The functions of api.h as callables of Python's own, in place of ctypes, which takes several
// times as long as most of them do.
#include <array>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "guest/library/api.h"
#include "guest/library/python_abi.h"

namespace loaderscope::guest::python {
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
