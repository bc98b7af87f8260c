#include "report/findings_text.h"

#include <gtest/gtest.h>

#include "unit/report/sample_finding.h"

namespace loaderscope {
namespace {

Finding finding_of(std::string_view id, double regained_s) {
  Finding finding = test::sample_finding({{"num-workers", "8"}});
  finding.id = id;
  finding.regained_s = regained_s;
  return finding;
}

TEST(FindingsText, TheFixIsTheFirstFinding) {
  Analysis analysis;
  EXPECT_EQ(fix_line(analysis), "");
  EXPECT_EQ(pytorch_line(analysis), "");
  analysis.findings = {finding_of("too-few-workers", 2), finding_of("decode-bound", 1)};
  EXPECT_EQ(fix_line(analysis),
            "Fix: num-workers=8 -> busy 25.0 % to 50.0 %, 160 to 320 samples/s; "
            "too-few-workers: 2 workers never rest");
  EXPECT_EQ(pytorch_line(analysis), "PyTorch: DataLoader(..., num_workers=4)");
  const std::vector<std::string> others = other_findings(analysis);
  ASSERT_EQ(others.size(), 1U);
  EXPECT_EQ(others.front(),
            "also decode-bound: 2 workers never rest; num-workers=8 -> busy 25.0 % to "
            "50.0 %, 160 to 320 samples/s");
}

TEST(FindingsText, WhatSavesNoTimeIsNoFix) {
  Analysis analysis;
  analysis.findings = {finding_of("gpu-is-the-limit", 0)};
  EXPECT_EQ(fix_line(analysis), "");
  EXPECT_EQ(other_findings(analysis).size(), 1U);
}

TEST(FindingsText, SaysHowWellTheModelFits) {
  Analysis analysis;
  analysis.fit = GoodnessOfFit{-0.012, "decode", 0.008};
  EXPECT_EQ(fit_line(analysis), "");  // nothing was predicted
  analysis.findings = {finding_of("too-few-workers", 2)};
  analysis.fit_notes = {"a note"};
  EXPECT_EQ(fit_line(analysis),
            "predicted: the model gives the base case's rate -1.2 %, decode +0.8 points; a note");
}

}  // namespace
}  // namespace loaderscope
