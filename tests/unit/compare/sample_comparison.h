// Comparisons whose answers are known.
#pragma once

#include "experiment/compare/compare.h"

namespace loaderscope::compare::test {

// Run whose samples take `decode` s in decode and 1 ms in augment. `noise` differs from run to run.
inline SideRun arm_run(std::int64_t block, std::int64_t arm, double decode, double noise) {
  SideRun run;
  run.block = block;
  run.arm = arm;
  const double augment = 1e-3, all = decode + augment;
  run.quantities = {{"samples-per-s", noise / all},
                    {"cpu-per-sample", all / noise},
                    {"decode", decode},
                    {"decode-wall", decode},
                    {"augment", augment},
                    {"augment-wall", augment}};
  run.counts = {{"bytes-read", 100'000.25}, {"decodes", 1}};
  run.details = {{"decode", "PIL.Image.load", 0.9}};
  run.took = kSecond;
  return run;
}

inline Comparison sample(double decode_of_b, double spread) {
  Comparison comparison;
  comparison.arms = {{{"A", "main", "3f2c1a9"}, {"B", "HEAD", "b71e0dd"}}};
  comparison.command = "loaderscope run";
  comparison.reproduce = "loaderscope compare --a x";
  comparison.planned_pairs = 12;
  comparison.workers = 2;
  comparison.cores = 2;
  comparison.spent = 24 * kSecond;
  for (std::int64_t i = 0; i < 24; ++i) {
    const std::int64_t arm = (i % 4 == 1 || i % 4 == 2) ? 1 : 0;
    const double noise = 1 + spread * (static_cast<double>(i * 7 % 11) / 5 - 1);
    comparison.runs.push_back(arm_run(i / 4, arm, arm == 0 ? 2e-3 : decode_of_b, noise));
  }
  return comparison;
}

inline Comparison slower_decode() { return sample(2.2e-3, 1e-4); }
inline Comparison alike() { return sample(2e-3, 1e-4); }
inline Comparison noisy() { return sample(2e-3, 0.5); }

inline Comparison two_results() {
  Comparison comparison = sample(2.2e-3, 0.01);
  comparison.runs.resize(2);
  comparison.planned_pairs = 1;
  comparison.is_of_results = true;
  comparison.known = KnownNoise{0.01, 0.02, 3};
  return comparison;
}

}  // namespace loaderscope::compare::test
