// Files that a job opens, and requests that it sends to servers.
#include <gmock/gmock.h>

#include "cli/torch_fixture.h"

namespace loaderscope::testing_cli {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

class TorchTraffic : public TorchJobs {
 protected:
  TorchTraffic() : TorchJobs("traffic.py") {}
};

// 64 samples in 16 batches by two workers. Each asks twice for the index, and for the 4 samples of
// its first batch.
TEST_F(TorchTraffic, CountsRequestsThatServerReceived) {
  const json result = measured("objects", 2);
  ASSERT_EQ(ended_.exit_code, 0) << ended_.err;
  const json &requests = result.at("requests"), said_by_server = said("came");
  EXPECT_EQ(requests.at("count"), said_by_server.at("came"));
  EXPECT_EQ(requests.at("count"), 64 + 4);
  EXPECT_EQ(requests.at("throttled"), said_by_server.at("refused"));
  EXPECT_EQ(requests.at("retries"), 2);
  EXPECT_EQ(requests.at("bytes"), 66 * 1000);
  EXPECT_EQ(requests.at("worker_first"), 6);
  EXPECT_EQ(requests.at("per_sample"), 1);
  EXPECT_EQ(requests.at("trainer_first"), 0);
  EXPECT_EQ(result.at("opens").at("worker_first_listings"), 1);
  EXPECT_EQ(result.at("opens").at("same"), 2);
  const std::string details = result.at("details").dump();
  EXPECT_THAT(details, HasSubstr("/index\""));
  EXPECT_THAT(details, HasSubstr("list " LOADERSCOPE_SOURCE_DIR "/tests/torch\""));
  if (result.at("memory").contains("copied_bytes")) {
    EXPECT_THAT(details, HasSubstr("Objects.names (list of 100000 tuple)"));
  }
}

// 64 slices of 4096 tokens of two bytes in a batch: each is taken, and then copied.
TEST_F(TorchTraffic, CountsCopiedSlicesOfMappedFileAsReads) {
  const json result =
      run({"--batch-function", file_ + ":get_batch"}, {torch_python(), file_, "mapped", "0"});
  ASSERT_EQ(ended_.exit_code, 0) << ended_.err;
  const auto steps = result.at("window").at("steps").get<std::int64_t>();
  const json& read = result.at("stages").at("read");
  EXPECT_GT(steps, 40);
  EXPECT_EQ(read.at("count"), steps * 64 * 2);
  EXPECT_EQ(read.at("bytes"), steps * 64 * 4096 * 2);
}

}  // namespace
}  // namespace loaderscope::testing_cli
