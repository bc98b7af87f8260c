#include "engine/native/process_table.h"

#include <cstdio>
#include <new>
#include <stdexcept>
#include <string>
#include <system_error>

#include "base/failure_text.h"
#include "loaderscope/errors.h"

namespace loaderscope::native {

void WorkerFailure::keep(const std::exception_ptr& failure) {
  if (taken_.exchange(true)) return;
  try {
    std::rethrow_exception(failure);
  } catch (const RunError& error) {
    write(Kind::run, error.message().c_str());
  } catch (const std::system_error& error) {
    const std::string shortage = shortage_sentence(error);
    write(shortage.empty() ? Kind::other : Kind::run,
          shortage.empty() ? error.what() : shortage.c_str());
  } catch (const std::bad_alloc&) {
    write(Kind::memory, "");
  } catch (const std::exception& error) {
    write(Kind::other, error.what());
  } catch (...) {
    write(Kind::other, "unknown");
  }
}

void WorkerFailure::write(Kind kind, const char* text) {
  kind_ = kind;
  std::snprintf(text_.data(), text_.size(), "%s", text);
  kept_.store(true, std::memory_order_release);
}

void WorkerFailure::rethrow() const {
  switch (kind_) {
    case Kind::memory:
      throw std::bad_alloc();
    case Kind::run:
      throw RunError(text_.data());
    case Kind::other:
      break;
  }
  throw std::runtime_error(text_.data());
}

void WorkerFailure::clear() {
  kept_.store(false);
  taken_.store(false);
}

}  // namespace loaderscope::native
