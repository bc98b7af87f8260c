// MPI is spoken in a child: what MPI does to a process (threads, signals, abort()) stays there, and
// ends before anything is measured.
#pragma once

#include <sys/types.h>

#include "base/fd.h"
#include "loaderscope/units.h"
#include "rendezvous/process_address.h"

namespace loaderscope {

struct MpiStatus {
  int number = 0, processes = 0;
};
// Process 0 sends it to all.
struct MpiAddress {
  char text[4096] = {};
};

// All throw RunError where MPI ends, or says nothing for as long as is waited.
class MpiChild {
 public:
  // Loads the library of the launcher's kind, which `variable` identifies, or another that is
  // there.
  MpiChild(const Variable& variable, Nanos wait);
  ~MpiChild();
  MpiChild(const MpiChild&) = delete;
  MpiChild& operator=(const MpiChild&) = delete;

  MpiStatus standing();
  void tell(const MpiAddress& told);  // call at process 0, before the others receive it
  MpiAddress told();
  void await_end();  // call in all processes together

 private:
  void receive(void* bytes, std::size_t size);
  void await();
  [[noreturn]] void say_how_it_ended();

  Nanos wait_, until_;
  Fd socket_;
  pid_t pid_ = -1;
};

}  // namespace loaderscope
