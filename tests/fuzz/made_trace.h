// A trace of whatever bytes: an error, or a record that can be analysed and adds up.
#pragma once

#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <string>

#include "engine/import/import_engine.h"
#include "loaderscope/analysis.h"
#include "loaderscope/errors.h"

namespace loaderscope::fuzz {

// Readers take paths: the bytes become a file in memory.
inline int diagnose_bytes(const std::uint8_t* data, std::size_t size, const char* ending) {
  static const std::string path =
      "/dev/shm/loaderscope-fuzz-" + std::to_string(::getpid()) + ending;
  FILE* file = std::fopen(path.c_str(), "wb");
  if (file == nullptr) return 0;
  std::fwrite(data, 1, size, file);
  std::fclose(file);
  try {
    const RunRecord record = traces::read_traces({{path}, "step", 1, 100});
    const Account account = analyse(record).account;
    const Nanos sum = std::accumulate(account.stall.begin(), account.stall.end(), account.compute);
    if (sum != account.window) std::abort();
  } catch (const RunError&) {
  }
  ::unlink(path.c_str());
  return 0;
}

}  // namespace loaderscope::fuzz
