// The terminal that this process shares with the programs that it starts. It sends its signals to a
// whole process group: a program in our group gets them from the terminal, as without us.
#pragma once

#include <csignal>

namespace loaderscope {

bool has_controlling_terminal();

// Remembers if `sender` is the terminal. Call it from a handler of signals.
void note_sender(const siginfo_t& sender);
// True if the last signal that was noted came from the terminal.
bool was_sent_by_terminal();

}  // namespace loaderscope
