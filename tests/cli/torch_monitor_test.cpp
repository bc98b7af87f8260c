// Live metrics of a measured training program.
#include <gmock/gmock.h>

#include <csignal>

#include "cli/scrape.h"
#include "cli/torch_fixture.h"

namespace loaderscope::testing_cli {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class TorchMonitor : public TorchJobs {};

TEST_F(TorchMonitor, ServesBatchesAndProcessesOfRun) {
  RunningBinary run({"run", "--metrics", ":0", "--", torch_python(), file_, "plain_forever", "2"});
  const std::uint16_t port = wait_for_port(run);
  const std::string text = scraped(run, port, "loaderscope_batches_total{pid=\"");
  EXPECT_THAT(text, AllOf(HasSubstr("program=\"jobs.py\",framework=\"pytorch\""),
                          HasSubstr("loaderscope_wait_seconds_total{pid=\""),
                          HasSubstr("loaderscope_worker_cpu_seconds_total{pid=\""),
                          HasSubstr("loaderscope_trainer_memory_bytes{pid=\"")));
  run.send(SIGINT);
  ended_ = run.wait();
  EXPECT_EQ(ended_.exit_code, 130);
  EXPECT_THAT(ended_.err, HasSubstr("cleaned up"));
}

}  // namespace
}  // namespace loaderscope::testing_cli
