// Text about the processes of a job that hangs, and their states.
#pragma once

#include <string>

#include "hang/hang_facts.h"

namespace loaderscope::hang {

std::string name_of(const RankFacts& rank);      // "rank 1", "the trainer"
std::string name_of(const WorkerFacts& worker);  // "worker 2"
std::string with_process(const std::string& name, const ProcessFacts& process);

// "waits in read() of /data/7.jpg, at dataset.py:34 in __getitem__".
std::string place_of(const ProcessFacts& process);
// Returns its wait without the line: "read() of /data/7.jpg", "recv() of a socket".
std::string call_of(const ProcessFacts& process);
// " (sample 471, stage decode)"; "" where neither is known.
std::string work_of(const ProcessFacts& process);

}  // namespace loaderscope::hang
