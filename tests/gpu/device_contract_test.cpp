// The contract of Device on a real GPU.
#include "contract/device_contract.h"
#include "gpu/gpu_test.h"

namespace loaderscope {
namespace {

INSTANTIATE_TEST_SUITE_P(Gpu, DeviceContract,
                         testing::Values(case_of_row(device_row("cuda"), cuda::kNear)),
                         name_of_case);

}  // namespace
}  // namespace loaderscope
