// The search for nvJPEG, and the reasons why a library is not usable.
#include "device/cuda/nvjpeg_library.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "unit/source/temp_folder.h"

namespace loaderscope::cuda {
namespace {

using source::TempFolder;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsSupersetOf;

constexpr int kDriver = 13'000;

TEST(NvjpegLibrary, TakesFirstUsableLibrary) {
  const NvjpegLibrary found =
      load_nvjpeg({"libnvjpeg-that-is-nowhere.so.13", LOADERSCOPE_PRETEND_NVJPEG_11,
                   LOADERSCOPE_PRETEND_NVJPEG_13},
                  kDriver);
  ASSERT_NE(found.nvjpeg, nullptr) << found.reason;
  EXPECT_EQ(found.reason, "");
  EXPECT_EQ(found.nvjpeg->version().text(), "13.1.2");
  EXPECT_EQ(found.nvjpeg->path(), LOADERSCOPE_PRETEND_NVJPEG_13);
}

TEST(NvjpegLibrary, CallsLoadedFunctions) {
  const NvjpegLibrary found = load_nvjpeg({LOADERSCOPE_PRETEND_NVJPEG_13}, kDriver);
  ASSERT_NE(found.nvjpeg, nullptr) << found.reason;
  nvjpeg::Handle handle = nullptr;
  EXPECT_EQ(found.nvjpeg->make_handle(nvjpeg::Backend::hardware, nullptr, nullptr, handle),
            nvjpeg::Code::execution_failed);
}

TEST(NvjpegLibrary, ReportsOldVersion) {
  const NvjpegLibrary found = load_nvjpeg({LOADERSCOPE_PRETEND_NVJPEG_11}, kDriver);
  EXPECT_EQ(found.nvjpeg, nullptr);
  EXPECT_THAT(found.reason, HasSubstr("is nvJPEG 11.1.2, which is too old: 11.9 or newer"));
}

TEST(NvjpegLibrary, ReportsDriverThatIsTooOld) {
  const NvjpegLibrary found = load_nvjpeg({LOADERSCOPE_PRETEND_NVJPEG_13}, 12'040);
  EXPECT_EQ(found.nvjpeg, nullptr);
  EXPECT_THAT(found.reason, HasSubstr("is nvJPEG 13.1.2, which needs a driver for CUDA 13, and "
                                      "this driver is for CUDA 12.4"));
}

TEST(NvjpegLibrary, ReportsMissingFunction) {
  const NvjpegLibrary found = load_nvjpeg({"libc.so.6"}, kDriver);
  EXPECT_EQ(found.nvjpeg, nullptr);
  EXPECT_EQ(found.reason, "libc.so.6 is not nvJPEG: it lacks the function nvjpegGetProperty.");
}

TEST(NvjpegLibrary, ReportsMissingLibrary) {
  EXPECT_THAT(load_nvjpeg({"libnvjpeg-that-is-nowhere.so.13"}, kDriver).reason,
              HasSubstr("libnvjpeg not found"));
  EXPECT_THAT(load_nvjpeg({"/nowhere/libnvjpeg.so.13"}, kDriver).reason,
              HasSubstr("libnvjpeg cannot be loaded: /nowhere/libnvjpeg.so.13: cannot open"));
}

TEST(NvjpegLibrary, NamesResults) {
  EXPECT_EQ(name_of(nvjpeg::Code::arch_mismatch), "NVJPEG_STATUS_ARCH_MISMATCH");
  EXPECT_EQ(name_of(nvjpeg::Code::incomplete_bitstream), "NVJPEG_STATUS_INCOMPLETE_BITSTREAM");
  EXPECT_EQ(name_of(static_cast<nvjpeg::Code>(77)), "nvJPEG status 77");
}

TEST(NvjpegPlaces, IncludesToolkitsAndPackagesOfPython) {
  const TempFolder folder;
  const std::string toolkit = folder.write("local/cuda-13.0/lib64/libnvjpeg.so.13.0.1");
  const std::string library_13 =
      folder.write("venv/lib/python3.12/site-packages/nvidia/cu13/lib/libnvjpeg.so.13");
  const std::string library_12 =
      folder.write("venv/lib/python3.12/site-packages/nvidia/nvjpeg/lib/libnvjpeg.so.12");
  const std::string carried =
      folder.write("venv/lib/python3.12/site-packages/torchvision.libs/libnvjpeg.4a0b5c81.so.13");
  folder.write("venv/lib/python3.12/site-packages/torchvision.libs/libjpeg.so.8");
  EXPECT_THAT(
      nvjpeg_libraries(folder / "local", {folder / "venv"}),
      ElementsAre("libnvjpeg.so.13", "libnvjpeg.so.12", toolkit, library_13, library_12, carried));
}

TEST(NvjpegLibrary, LoadsRealLibraryIfInstalled) {
  const NvjpegLibrary& found = find_nvjpeg(kDriver);
  if (found.nvjpeg == nullptr) GTEST_SKIP() << found.reason;
  EXPECT_FALSE(found.nvjpeg->version().is_before(11, 9));
  EXPECT_THAT(found.nvjpeg->path(), HasSubstr("nvjpeg"));
}

}  // namespace
}  // namespace loaderscope::cuda
