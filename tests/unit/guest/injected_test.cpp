// Delays without a hook are said.
#include "guest/host/messages.h"
#include "loaderscope/settings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace loaderscope::guest {
namespace {

using testing::HasSubstr;

RunConfig injecting(const std::vector<const char*>& delays) {
  RunConfig config;
  for (const char* text : delays) set_field(config, "test", "inject", text);
  return config;
}

TEST(Injected, NamesFirstDelayWithoutHook) {
  const RunConfig config = injecting({"read=+1ms", "decode=+1ms"});
  Injected injected(config);
  injected.executed(0);
  EXPECT_THAT(injected.missing(false),
              HasSubstr("inject = decode=+1ms: stage decode had no hook in this run, so nothing"));
  injected.executed(1);
  EXPECT_EQ(injected.missing(false), "");
}

TEST(Injected, AcceptsDelaysOfOneRankThatMayJoinLater) {
  const RunConfig config = injecting({"read=+1ms@rank=1@worker=2"});
  const Injected injected(config);
  EXPECT_EQ(injected.missing(true), "");
  EXPECT_THAT(injected.missing(false), HasSubstr("in this run in worker 2 of rank 1, so"));
}

TEST(Injected, NeedsNoComputeHookOnSimulatedDevice) {
  RunConfig config = injecting({"compute=+1ms", "decode=+0ms"});
  config.trainer.device.set("sim");
  EXPECT_EQ(Injected(config).missing(false), "");
  config.trainer.device.set("script");
  EXPECT_THAT(Injected(config).missing(false), HasSubstr("stage compute had no hook"));
}

}  // namespace
}  // namespace loaderscope::guest
