// Pipelines of the tests that run jobs of several processes.
#pragma once

#include <string>

#include "cli/run_binary.h"

namespace loaderscope::testing_cli {

// Ranks that end their steps together, for the second of which each sample takes 4 ms more.
inline Words job_with_a_slow_rank(const std::string& cost, const std::string& steps,
                                  const std::string& result) {
  return {"--source",  "synthetic",    "--device",
          "sim",       "--sync-ranks", "--cost",
          cost,        "--inject",     "decode=+4ms@rank=1",
          "--compute", "4ms",          "--workers",
          "1",         "--batch",      "2",
          "--steps",   steps,          "--json",
          result,      "--force"};
}

}  // namespace loaderscope::testing_cli
