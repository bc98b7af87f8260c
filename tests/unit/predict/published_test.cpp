// Rates that others published before and after they moved work of the loader to the GPU. The model
// gets what they say of the run before, and predicts the run after.
#include <gtest/gtest.h>

#include <cmath>
#include <ostream>
#include <string>

#include "loaderscope/analysis.h"
#include "unit/known_answer/known_answer.h"

namespace loaderscope {
namespace {

struct PublishedRow {
  const char* name;
  std::string run;       // settings of both runs
  std::string change;    // settings of the run after
  double before, after;  // published, in samples per second
};

void PrintTo(const PublishedRow& row, std::ostream* out) { *out << row.name; }

// The training of a robot: batches of 160. Workers decode in 30 % of their time, and augment in the
// rest: 18.8, 42.6 and 33.3 ms a sample, which is 8 or 2 workers by the rate before. The compute
// follows from the rate and the idle share before. On the GPU, the augmentation takes 35 ms a batch
// of an L4 at 300 GB/s, and the less the more bytes per second the memory gives. It runs on the
// stream of the training.
//
// Camera images of vehicles: 8 samples of 6 cameras, 4 workers for each GPU. Their CPU time is from
// the load of 256 threads before and after, less 0.25 s of the trainer. The compute of 812 ms is
// fitted to the first row after the change, so three of the four times are predictions. The JPEG
// engines take 13 ms a batch.
const PublishedRow kRows[] = {
    {"lerobot_h100",
     "workers=8 batch=160 cores=8 cost=decode=5.64ms cost=augment=13.16ms compute=139.3ms",
     "augment-on=gpu cost=gpu-augment=19.4us shared-speed=gpu-augment=0:1", 425, 1200},
    {"lerobot_a100",
     "workers=8 batch=160 cores=8 cost=decode=12.78ms cost=augment=29.82ms compute=272.3ms",
     "augment-on=gpu cost=gpu-augment=31.9us shared-speed=gpu-augment=0:1", 188, 615},
    {"lerobot_l4_2_workers",
     "workers=2 batch=160 cores=8 cost=decode=10ms cost=augment=23.3ms compute=853ms",
     "augment-on=gpu cost=gpu-augment=218.8us shared-speed=gpu-augment=0:1", 60, 179},
    {"lerobot_l4_8_workers",
     "workers=8 batch=160 cores=8 cost=decode=10ms cost=augment=23.3ms compute=833ms",
     "augment-on=gpu cost=gpu-augment=218.8us shared-speed=gpu-augment=0:1", 192, 183},
    {"cameras_2_a100",
     "workers=4 batch=8 cores=4 cost=read=167.5ms cost=decode=295ms compute=812ms",
     "decode=hw cost=gpu-decode=1.625ms cost=gpu-augment=0 shared-speed=gpu-decode=0:1", 8 / 0.935,
     8 / 0.829},
    {"cameras_8_a100",
     "workers=4 batch=8 cores=4 cost=read=156.25ms cost=decode=358.75ms compute=812ms",
     "decode=hw cost=gpu-decode=1.625ms cost=gpu-augment=0 shared-speed=gpu-decode=0:1", 8 / 1.110,
     8 / 0.868},
};

double predicted_rate(const std::string& settings) {
  const RunRecord record = known_answer::run(settings + " warmup=30 steps=120");
  return analyse(record).samples_per_s.mean;
}

class Published : public testing::TestWithParam<PublishedRow> {};

TEST_P(Published, GivesRatesWithinTenPercent) {
  const PublishedRow& row = GetParam();
  const double before = predicted_rate(row.run);
  const double after = predicted_rate(row.run + " " + row.change);
  EXPECT_NEAR(before / row.before, 1, 0.1) << before;
  EXPECT_NEAR(after / row.after, 1, 0.1) << after;
  EXPECT_EQ(after > before, row.after > row.before) << before << " " << after;
}

std::string name_of_row(const testing::TestParamInfo<PublishedRow>& row) { return row.param.name; }
INSTANTIATE_TEST_SUITE_P(Rows, Published, testing::ValuesIn(kRows), name_of_row);

}  // namespace
}  // namespace loaderscope
