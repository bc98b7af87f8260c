#include "cli/live_screen.h"

#include <poll.h>
#include <unistd.h>

#include <cstdlib>
#include <string_view>

namespace loaderscope {
namespace {

// Ignores errors, because the terminal itself is gone.
void put(std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(STDOUT_FILENO, text.data(), text.size());
    if (written <= 0) return;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
}

}  // namespace

bool LiveScreen::is_possible() {
  const char* terminal = std::getenv("TERM");
  return ::isatty(STDOUT_FILENO) == 1 && terminal != nullptr &&
         std::string_view(terminal) != "dumb";
}

// Keys come at once and are not shown; Ctrl-C stays a signal.
LiveScreen::LiveScreen() {
  if (::isatty(STDIN_FILENO) == 1 && ::tcgetpgrp(STDIN_FILENO) == ::getpgrp() &&
      ::tcgetattr(STDIN_FILENO, &before_) == 0) {
    termios keys = before_;
    keys.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);
    reads_keys_ = ::tcsetattr(STDIN_FILENO, TCSANOW, &keys) == 0;
  }
  put("\x1b[?1049h\x1b[?25l");
}

LiveScreen::~LiveScreen() {
  put("\x1b[?25h\x1b[?1049l");
  if (reads_keys_) ::tcsetattr(STDIN_FILENO, TCSANOW, &before_);
}

void LiveScreen::show(const std::string& text) {
  std::string drawn = "\x1b[H";
  for (const char letter : text) drawn += letter == '\n' ? "\x1b[K\n" : std::string(1, letter);
  put(drawn + (reads_keys_ ? "q: quit, with the summary\x1b[J" : "\x1b[J"));
}

bool LiveScreen::wants_to_quit() const {
  pollfd keys{STDIN_FILENO, POLLIN, 0};
  char key = 0;
  while (reads_keys_ && ::poll(&keys, 1, 0) == 1 && ::read(STDIN_FILENO, &key, 1) == 1) {
    if (key == 'q' || key == 'Q') return true;
  }
  return false;
}

}  // namespace loaderscope
