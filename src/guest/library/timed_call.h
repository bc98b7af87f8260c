// A call of a function that is looked into: its time is a stage's where the calling thread makes a
// batch.
#pragma once

#include "guest/library/python_abi.h"
#include "guest/library/stage_stack.h"

namespace loaderscope::guest::python {

// What an object that stands for such a function holds.
struct Timed {
  Object* (*vectorcall)(Object*, Object* const*, std::size_t, Object*);
  Object* weak_references;
  Object* original;
  Object* before;   // is called within the stage first; or null
  Object* instead;  // is called in place of the original, in a batch; or null
  Object* account;  // another such object, whose time it adds to; or null
  Nanos spent;
  int every;  // of that many calls in batches, one calls `instead`
  int calls;  // since it was called last
  Stage stage;
  bool is_part;
  bool has_name;
  bool is_of_batch;  // behind the samples
  bool asks_system;  // as others do within it, which tell the bytes

  static inline Size header = 0;  // bytes of any object; ours follow
};
inline Timed& timed_of(Object* self) {
  return *reinterpret_cast<Timed*>(reinterpret_cast<std::byte*>(self) + Timed::header);
}

void let_go(Object* object);  // or null

// Both ways of calling it.
Object* call_quickly(Object* self, Object* const* arguments, std::size_t count, Object* names);
Object* call(Object* self, Object* arguments, Object* named);

}  // namespace loaderscope::guest::python
