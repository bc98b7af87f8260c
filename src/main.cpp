#include <csignal>
#include <cstdio>
#include <exception>
#include <new>

#include "cli/command.h"

namespace {

using loaderscope::ExitCode;

ExitCode complain(const char* message, ExitCode code) {
  std::fprintf(stderr, "loaderscope: %s\n", message);
  return code;
}

ExitCode guarded(int argc, char** argv) {
  try {
    return loaderscope::run_command_line(argc, argv);
  } catch (const loaderscope::UsageError& error) {
    return complain(error.what(), ExitCode::usage);
  } catch (const loaderscope::RunError& error) {
    return complain(error.what(), ExitCode::failed);
  } catch (const std::bad_alloc&) {
    return complain("out of memory; give a smaller configuration", ExitCode::failed);
  } catch (const std::exception& error) {
    std::fprintf(stderr,
                 "loaderscope: internal error: %s; please report it with the command line\n",
                 error.what());
    return ExitCode::failed;
  }
}

}  // namespace

int main(int argc, char** argv) {
  // A closed pipe and a file at its limit are errors of write(), which are looked at.
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
  return static_cast<int>(guarded(argc, argv));
}
