// Rates of saved profiles. A profile without the rows of a GPU has no rates of it.
#include "job/machine_profile.h"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "report/results.h"
#include "report/schemas.h"
#include "report/writers.h"
#include "unit/machine/pretend_root.h"

namespace loaderscope {
namespace {

using probe::Figure;
using probe::Outcome;
using probe::Profile;

class MachineProfileTest : public testing::Test {
 protected:
  MachineProfileTest() {
    machine_.cpu = profile_.cpu = "A CPU";
    machine_.logical_cpus = profile_.logical_cpus = 8;
    machine_.host = profile_.host = "node";
    profile_.cores = 8;
  }

  void add(const std::string& row, const std::vector<Figure>& figures) {
    Outcome outcome;
    outcome.figures = figures;
    profile_.probes.emplace_back(row, outcome);
  }
  ProbedRates read() {
    std::ostringstream out;
    write_json(out, make_result(profile_, "1.0"));
    root_.write("profile.json", out.str());
    return known_rates(root_.path() / "profile.json", machine_, {}, notes_);
  }

  test::PretendRoot root_;
  Profile profile_;
  MachineFacts machine_;
  std::vector<std::string> notes_;
};

TEST_F(MachineProfileTest, ReadsWorkOfGpu) {
  add("jpeg-engines", {{"cuda_image_s", "s", 50e-6},
                       {"cuda_pixels_per_s", "1/s", 1e9},
                       {"engines_image_s", "s", 5e-6},
                       {"engines_pixels_per_s", "1/s", 5e9},
                       {"engines_cpu_s", "s", 12e-6}});
  add("augment-kernel", {{"f16_samples", "1/s", 2e6}, {"f32_samples", "1/s", 1e6}});
  add("gpu-share", {{"products_during_decode", "share", 0.98},
                    {"copies_during_decode", "share", 0.96},
                    {"products_during_augment", "share", 1.002},
                    {"copies_during_augment", "share", 0.4}});
  const ProbedRates rates = read();
  EXPECT_DOUBLE_EQ(rates.gpu_decode_image_s, 5e-6);
  EXPECT_DOUBLE_EQ(rates.gpu_decode_pixels_per_s, 5e9);
  EXPECT_DOUBLE_EQ(rates.gpu_decode_cpu_s, 12e-6);
  EXPECT_DOUBLE_EQ(rates.gpu_augment_sample_s, 1e-6);
  EXPECT_NEAR(rates.gpu_decode_taken, 0.02, 1e-9);
  EXPECT_NEAR(rates.gpu_decode_taken_of_copies, 0.04, 1e-9);
  EXPECT_DOUBLE_EQ(rates.gpu_augment_taken, 1e-4);  // known, and not more than that
  EXPECT_NEAR(rates.gpu_augment_taken_of_copies, 0.6, 1e-9);
}

TEST_F(MachineProfileTest, ReadsCudaDecodingWithoutEngines) {
  add("jpeg-engines",
      {{"engines", "count", 0}, {"cuda_pixels_per_s", "1/s", 1e9}, {"cuda_image_s", "s", 50e-6}});
  const ProbedRates rates = read();
  EXPECT_DOUBLE_EQ(rates.gpu_decode_pixels_per_s, 1e9);
  EXPECT_DOUBLE_EQ(rates.gpu_decode_image_s, 50e-6);
  EXPECT_EQ(rates.gpu_decode_taken, 0);
}

TEST_F(MachineProfileTest, ReadsProfileWithoutGpuRows) {
  add("decode", {{"per_core", "1/s", 900}});
  EXPECT_EQ(read(), ProbedRates());
}

}  // namespace
}  // namespace loaderscope
