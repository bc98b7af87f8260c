// Processes of a job that hangs, and where they stand, in words.
#pragma once

#include <string>

#include "hang/hang_facts.h"

namespace loaderscope::hang {

std::string name_of(const RankFacts& rank);      // "rank 1", "the trainer"
std::string name_of(const WorkerFacts& worker);  // "worker 2"
std::string with_process(const std::string& name, const ProcessFacts& process);

// "waits in read() of /data/7.jpg, at dataset.py:34 in __getitem__".
std::string place_of(const ProcessFacts& process);
// What it waits in, without the line: "read() of /data/7.jpg", "recv() of a socket".
std::string call_of(const ProcessFacts& process);
// " (sample 471, stage decode)"; "" where neither is known.
std::string work_of(const ProcessFacts& process);

}  // namespace loaderscope::hang
