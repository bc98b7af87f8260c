// The kernels that augment a batch, on a real GPU, against the augmentation of the host.
#include "gpu/gpu_test.h"
#include "unit/device/augment_cases.h"

namespace loaderscope::cuda {
namespace {

TEST_F(GpuTest, MakesAugmentedBytesOfHost) {
  for (const CaseKind kind :
       {CaseKind::crops, CaseKind::tiny, CaseKind::colours, CaseKind::warps, CaseKind::far_warps,
        CaseKind::eight_steps, CaseKind::scaled, CaseKind::cropped}) {
    SCOPED_TRACE(static_cast<int>(kind));
    expect_host_bytes(*runtime_, kind, 300);
  }
  expect_host_bytes(*runtime_, CaseKind::large, 20);
}

}  // namespace
}  // namespace loaderscope::cuda
