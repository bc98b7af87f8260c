// Outcomes of proofs whose runs are made by hand.
#include <gtest/gtest.h>

#include "loaderscope/analysis.h"
#include "predict/proof_runs.h"

namespace loaderscope {
namespace {

// Three pairs whose rates are 1.5 times as high, on a machine that gets slower.
Proof three_pairs() {
  Proof proof;
  proof.has_busy = true;
  proof.base.runs = {{100, 0.50}, {80, 0.40}, {90, 0.45}};
  ProofCase changed;
  changed.runs = {{150, 0.75}, {120, 0.60}, {135, 0.675}};
  changed.predicted = ProofPrediction{{100, 0.5}, {153, 0.765}, 0.03};
  proof.cases = {changed};
  return proof;
}

TEST(ProofOutcome, ComputesGainFromPairs) {
  const Proof proof = three_pairs();
  const ProofOutcome outcome = proof_outcome(proof, proof.cases[0]);
  EXPECT_NEAR(outcome.gain.mean, 1.5, 1e-12);
  EXPECT_NEAR(*outcome.gain.low, 1.5, 1e-9);
  EXPECT_NEAR(*outcome.gain.high, 1.5, 1e-9);
  // Mean 135, standard deviation 15, Student's t 4.303 for two degrees: 15 / sqrt(3) x 4.303.
  EXPECT_NEAR(outcome.samples_per_s.mean, 135, 1e-12);
  EXPECT_NEAR(*outcome.samples_per_s.high - 135, 37.26, 0.01);
  EXPECT_NEAR(outcome.busy.mean, 0.675, 1e-12);
}

TEST(ProofOutcome, ChecksPredictionWithinItsError) {
  Proof proof = three_pairs();
  EXPECT_EQ(proof_outcome(proof, proof.cases[0]).confirmed, true);  // 1.53 < 1.5 x 1.03
  proof.cases[0].predicted->error = 0.01;
  EXPECT_EQ(proof_outcome(proof, proof.cases[0]).confirmed, false);
  proof.cases[0].predicted->after.samples_per_s = 148;  // > 1.5 / 1.01
  EXPECT_EQ(proof_outcome(proof, proof.cases[0]).confirmed, false);
  proof.cases[0].predicted->after.samples_per_s = 149;
  EXPECT_EQ(proof_outcome(proof, proof.cases[0]).confirmed, true);
}

TEST(ProofOutcome, NeedsMoreThanTwoPairs) {
  Proof proof = three_pairs();
  proof.base.runs.pop_back();
  const ProofOutcome outcome = proof_outcome(proof, proof.cases[0]);
  EXPECT_FALSE(outcome.gain.low.has_value());
  EXPECT_FALSE(outcome.confirmed.has_value());
  proof.cases[0].predicted.reset();
  EXPECT_FALSE(proof_outcome(three_pairs(), proof.cases[0]).confirmed.has_value());
}

TEST(ProofOutcome, AcceptsOnePairInVirtualTime) {
  Proof proof = three_pairs();
  proof.exact = true;
  proof.base.runs.resize(1);
  proof.cases[0].runs.resize(1);
  proof.cases[0].predicted = ProofPrediction{{100, 0.5}, {150, 0.75}, 0};
  const ProofOutcome outcome = proof_outcome(proof, proof.cases[0]);
  EXPECT_EQ(outcome.gain.low, outcome.gain.high);
  EXPECT_EQ(outcome.confirmed, true);
}

TEST(ProofOutcome, ReportsNothingWithoutRuns) {
  const Proof proof;
  const ProofOutcome outcome = proof_outcome(proof, proof.base);
  EXPECT_EQ(outcome.gain.mean, 0);
  EXPECT_FALSE(outcome.samples_per_s.low.has_value());
}

}  // namespace
}  // namespace loaderscope
