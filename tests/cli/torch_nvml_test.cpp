// Facts of NVML about a GPU during a user's program, from a simulated library.
#include <gmock/gmock.h>

#include <filesystem>

#include "cli/torch_fixture.h"

namespace loaderscope::testing_cli {
namespace {

constexpr const char* kProgram = R"(
import time, torch
class Numbers(torch.utils.data.Dataset):
    def __len__(self): return 1 << 20
    def __getitem__(self, i): return i
end = time.time() + 6
for batch in torch.utils.data.DataLoader(Numbers(), batch_size=4):
    time.sleep(0.02)
    if time.time() > end: break
)";

using TorchNvml = TorchTest;

TEST_F(TorchNvml, ReportsFactsOfGpuAndThrottling) {
  const TestFolder folder;
  std::filesystem::create_symlink(LOADERSCOPE_PRETEND_NVML, folder.path("libnvidia-ml.so.1"));
  const Environment path("LD_LIBRARY_PATH", folder.path("."));
  const Environment reasons("PRETEND_NVML_REASONS", "0x40");
  const Ended ended = run_binary({"run", "--json", folder.path("r.json"), "--", torch_python(),
                                  folder.write("train.py", kProgram)});
  ASSERT_EQ(ended.exit_code, 0) << ended.err;
  const nlohmann::json result = nlohmann::json::parse(folder.read("r.json"));
  expect_sums_up(result);
  const nlohmann::json& gpu = result["gpu"];
  ASSERT_TRUE(gpu.is_object()) << result["metrics"];
  EXPECT_GE(gpu["samples"], 1);
  EXPECT_EQ(gpu["clock_mhz"], 1200);
  EXPECT_EQ(gpu["throttled_by_heat_share"], 1);
  EXPECT_GT(gpu["kernel_share"], 0.4);  // 83 % of the one that works
  EXPECT_EQ(result["link"]["max_width"], 16);
}

}  // namespace
}  // namespace loaderscope::testing_cli
