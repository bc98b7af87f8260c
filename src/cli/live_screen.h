// A terminal screen that is redrawn until the user presses `q`.
#pragma once

#include <termios.h>

#include <string>

namespace loaderscope {

class LiveScreen {
 public:
  static bool is_possible();  // standard output is a terminal that can be drawn on

  LiveScreen();
  ~LiveScreen();  // restores the screen
  LiveScreen(const LiveScreen&) = delete;
  LiveScreen& operator=(const LiveScreen&) = delete;

  void show(const std::string& text);
  bool wants_to_quit() const;  // `q` was pressed

 private:
  bool reads_keys_ = false;
  termios before_{};
};

}  // namespace loaderscope
