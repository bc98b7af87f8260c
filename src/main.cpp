#include <fcntl.h>

#include <csignal>
#include <cstdio>
#include <exception>
#include <new>
#include <string>
#include <system_error>

#include "base/failure_text.h"
#include "cli/command.h"
#include "cli/error_text.h"
#include "job/interrupt.h"

namespace {

using loaderscope::ExitCode;

ExitCode complain(const std::string& message, ExitCode code) {
  std::fputs(loaderscope::error_text(message).c_str(), stderr);
  return code;
}

ExitCode complain(const loaderscope::Error& error, ExitCode code) {
  std::fputs(loaderscope::error_text(error).c_str(), stderr);
  return code;
}

ExitCode complain_of_bug(const std::exception& error) {
  return complain(loaderscope::Error(std::string("internal error: ") + error.what(),
                                     "please report it with the command line"),
                  ExitCode::failed);
}

ExitCode guarded(int argc, char** argv) {
  try {
    return loaderscope::run_command_line(argc, argv);
  } catch (const loaderscope::UsageError& error) {
    return complain(error, ExitCode::usage);
  } catch (const loaderscope::RunError& error) {
    return complain(error, loaderscope::exit_code_of_failure());
  } catch (const std::bad_alloc&) {
    return complain(loaderscope::Error("out of memory", "give a smaller configuration"),
                    ExitCode::failed);
  } catch (const std::system_error& error) {
    const std::string shortage = loaderscope::shortage_sentence(error);
    return shortage.empty() ? complain_of_bug(error) : complain(shortage, ExitCode::failed);
  } catch (const std::exception& error) {
    return complain_of_bug(error);
  }
}

// A file or a socket of ours must not become one of the three. Reading finds the end, messages are
// dropped; an answer that cannot be written is an error of write().
void open_closed_standard_streams() {
  for (const int stream : {0, 1, 2}) {
    if (::fcntl(stream, F_GETFD) >= 0) continue;
    static_cast<void>(::open("/dev/null", stream == 2 ? O_WRONLY : O_RDONLY));
  }
}

}  // namespace

int main(int argc, char** argv) {
  open_closed_standard_streams();
  // A closed pipe and a file at its limit are errors of write(), which are looked at.
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
  return static_cast<int>(guarded(argc, argv));
}
