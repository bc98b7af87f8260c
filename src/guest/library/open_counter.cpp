#include "guest/library/observers.h"

#include <array>
#include <atomic>
#include <cstring>
#include <string_view>

#include "guest/library/api.h"
#include "guest/library/python_abi.h"
#include "guest/library/this_thread.h"
#include "guest/library/timed_call.h"

namespace loaderscope::guest {
namespace open_counter {
namespace {

// Threads of an interpreter without a lock may count at once.
std::array<std::atomic<std::int64_t>, static_cast<std::size_t>(What::kCount)> counts;

std::atomic<std::int64_t>* find_count(What what) {
  const auto index = static_cast<std::size_t>(what);
  return index < counts.size() ? &counts[index] : nullptr;
}

}  // namespace

void count(What what) {
  if (auto* one = find_count(what)) one->fetch_add(1, std::memory_order_relaxed);
}

std::int64_t counted(What what) {
  const auto* one = find_count(what);
  return one != nullptr ? one->load(std::memory_order_relaxed) : 0;
}

void forget() {
  for (auto& one : counts) one.store(0, std::memory_order_relaxed);
}

}  // namespace open_counter

namespace python {
namespace {

using open_counter::What;

bool is_watched;
Object* note;  // is called with each path and its What, as long as it is there
void* noting;  // the interpreter that it is an object of

// "" where it is no text: bytes, or an object that has one. It lives as long as `path`.
std::string_view path_text(Object* path) {
  if (!is_exactly(path, api().PyUnicode_Type)) return "";
  Size length = 0;
  const char* text = api().PyUnicode_AsUTF8AndSize(path, &length);
  if (text == nullptr) api().PyErr_Clear();
  return text != nullptr ? std::string_view(text, static_cast<std::size_t>(length)) : "";
}

bool is_of_system(std::string_view path) {
  return path.starts_with("/proc/") || path.starts_with("/sys/") || path.starts_with("/dev/");
}

// Interpreters of one process see each other's events, each with a lock of its own. `note` may be
// called only in its own interpreter. Returns -1 after an interrupt, such as Ctrl-C. Drops other
// errors of `note`.
int notify_listener(Object* path, What what) {
  if (note == nullptr || what == What::modules || current_interpreter() != noting) return 0;
  Object* listener = new_reference(note);  // `note` may be cleared by the call
  Object* result =
      api().PyObject_CallMethod(listener, "__call__", "Oi", path, static_cast<int>(what));
  const bool is_interrupted =
      result == nullptr && api().PyErr_ExceptionMatches(*api().PyExc_Exception) == 0;
  if (result == nullptr && !is_interrupted) api().PyErr_Clear();
  release_reference(result);
  release_reference(listener);
  return is_interrupted ? -1 : 0;
}

int see(Object* arguments, What what) {
  Object* path = api().PyTuple_GetItem(arguments, 0);
  if (path == nullptr) api().PyErr_Clear();
  if (path == nullptr || is_exactly(path, api().PyLong_Type)) return 0;  // a descriptor
  const std::string_view text = path_text(path);
  if (is_of_system(text)) return 0;
  if (what == What::files && (text.ends_with(".pyc") || text.ends_with(".py")))
    what = What::modules;
  open_counter::count(what);
  return notify_listener(path, what);
}

// Fails the event only with an interruption, which is the program's.
int on_event(const char* event, Object* arguments, void*) {
  if (event[0] != 'o') return 0;
  const bool is_open = std::strcmp(event, "open") == 0;
  if (!is_open && std::strcmp(event, "os.scandir") != 0 && std::strcmp(event, "os.listdir") != 0)
    return 0;
  const Nanos begun = monotonic_now();
  const int result = see(arguments, is_open ? What::files : What::listings);
  membership().took(monotonic_now() - begun);
  return result;
}

// (note); or None: it is listened to no longer.
Object* watch_opens(Object*, Object* const* given, Size count) {
  if (count != 1) return refuse("watch_opens takes one argument");
  if (!is_watched && api().PySys_AddAuditHook(on_event, nullptr) != 0) return nullptr;
  is_watched = true;
  Object* before = note;
  note = given[0] == api()._Py_NoneStruct ? nullptr : new_reference(given[0]);
  noting = current_interpreter();
  release_reference(before);
  return new_reference(api()._Py_NoneStruct);
}

}  // namespace

bool add_watch_opens(Object* dictionary) {
  static MethodDef def = {"watch_opens", reinterpret_cast<void*>(watch_opens), kFastCall, nullptr};
  return add(dictionary, def);
}

}  // namespace python
}  // namespace loaderscope::guest

std::int64_t lsg_opened(int what) {
  return loaderscope::guest::open_counter::counted(
      static_cast<loaderscope::guest::open_counter::What>(what));
}
