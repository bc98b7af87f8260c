// A timed call of a user's function. Its time is booked to a stage while the calling thread makes a
// batch.
#pragma once

#include "guest/library/python_abi.h"
#include "guest/library/stage_stack.h"

namespace loaderscope::guest::python {

// State of an object that replaces such a function.
struct Timed {
  Object* (*vectorcall)(Object*, Object* const*, std::size_t, Object*);
  Object* weak_references;
  Object* original;
  Object* before;     // called first, within the stage; or null
  Object* instead;    // called in place of the original, in a batch; or null
  Object* account;    // another such object that collects the time; or null
  Object* step_call;  // called in place of the original, in a thread that trains; or null
  Nanos spent;
  int every;  // one in `every` calls in batches calls `instead`
  int calls;  // calls since `instead` was last called
  Stage stage;
  bool is_part;
  bool has_name;
  bool is_of_batch;   // handles the batch after its samples
  bool asks_system;   // calls other reads within it, which report the bytes
  bool only_in_step;  // not timed elsewhere

  static inline Size header = 0;  // bytes of any object; ours follow
};
inline Timed& get_timed(Object* self) {
  return *reinterpret_cast<Timed*>(reinterpret_cast<std::byte*>(self) + Timed::header);
}

void release_reference(Object* object);  // accepts null

// The two call protocols of such an object.
Object* call_quickly(Object* self, Object* const* arguments, std::size_t count, Object* names);
Object* call(Object* self, Object* arguments, Object* named);

}  // namespace loaderscope::guest::python
