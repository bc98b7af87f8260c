// Whether the calling thread has kept its core: what the scheduler would have to be asked for by a
// system call is then known without one.
#pragma once

namespace loaderscope {

class CoreStay {
 public:
  // False where the kernel or the C library does not tell; then no stay is ever unbroken.
  static bool known();

  // From now on. Of the calling thread: one stay at a time counts, the last one begun.
  static void begin();
  // False once the thread was taken off its core since `begin`, to wait or for another thread.
  static bool unbroken();
};

}  // namespace loaderscope
