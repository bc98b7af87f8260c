// The search for cuBLAS, and its handles.
#include "device/cuda/cublas.h"

#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

#include "device/cuda/library_search.h"
#include "environment.h"
#include "unit/source/temp_folder.h"

namespace loaderscope::cuda {
namespace {

using source::TempFolder;
using ::testing::Contains;
using ::testing::IsSupersetOf;

Stream fake_stream(int& something) { return Stream{&something}; }

class CublasTest : public testing::Test {
 protected:
  std::array<int, 4> counts() const {
    std::array<int, 4> all{};
    void* library = ::dlopen(LOADERSCOPE_PRETEND_CUBLAS, RTLD_NOW | RTLD_LOCAL);
    const auto count = reinterpret_cast<void (*)(int*)>(::dlsym(library, "pretend_cublas_counts"));
    count(all.data());
    return all;
  }
  int made() const { return counts()[0]; }
  int alive() const { return counts()[1]; }

  Cublas cublas_{{"/nowhere/libcublas.so.13", LOADERSCOPE_PRETEND_CUBLAS}};
  int first_ = 0, second_ = 0;
};

TEST_F(CublasTest, TakesFirstLibraryThatExists) { EXPECT_EQ(cublas_.version(), "13.12.11"); }

TEST_F(CublasTest, KeepsOneHandlePerDeviceUntilClosed) {
  const int before = made();
  EXPECT_TRUE(cublas_.open(0));
  EXPECT_TRUE(cublas_.open(0));  // another rank on the same GPU
  EXPECT_TRUE(cublas_.open(1));
  EXPECT_EQ(made(), before + 2);
  EXPECT_EQ(alive(), 2);
  cublas_.close(0);
  EXPECT_TRUE(cublas_.is_open(0));
  cublas_.close(0);
  EXPECT_FALSE(cublas_.is_open(0));
  EXPECT_TRUE(cublas_.is_open(1));
  EXPECT_EQ(alive(), 1);
  cublas_.close(1);
  EXPECT_EQ(alive(), 0);
  cublas_.close(1);
  EXPECT_EQ(alive(), 0);
}

TEST_F(CublasTest, SetsStreamOnlyIfItChanged) {
  ASSERT_TRUE(cublas_.open(0));
  const std::array<int, 4> before = counts();
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(cublas_.gemm(0, {}, fake_stream(first_)));
  EXPECT_TRUE(cublas_.gemm(0, {}, fake_stream(second_)));
  EXPECT_EQ(counts()[2], before[2] + 2);
  EXPECT_EQ(counts()[3], before[3] + 4);
  EXPECT_FALSE(cublas_.gemm(1, {}, fake_stream(first_)));  // never opened
  cublas_.close(0);
}

TEST_F(CublasTest, StaysClosedIfDriverRefuses) {
  const Environment refuses("PRETEND_CUBLAS", "refuses");
  EXPECT_FALSE(cublas_.open(0));
  EXPECT_FALSE(cublas_.is_open(0));
  cublas_.close(0);
  EXPECT_EQ(alive(), 0);
}

TEST(CublasPlaces, IncludesPackagesOfPython) {
  const TempFolder folder;
  const std::string library_13 =
      folder.write("venv/lib/python3.12/site-packages/nvidia/cu13/lib/libcublas.so.13");
  const std::string library_12 =
      folder.write("usr/lib/python3/dist-packages/nvidia/cublas/lib/libcublas.so.12");
  EXPECT_THAT(cublas_libraries({folder / "venv", folder / "usr", folder / "none"}),
              IsSupersetOf({std::string("libcublas.so.13"), library_13, library_12}));

  folder.write("venv/bin/python3");
  const Environment path("PATH", "/nowhere:" + (folder / "venv/bin"));
  const Environment active("VIRTUAL_ENV", folder / "usr");
  EXPECT_THAT(python_prefixes(), Contains(std::filesystem::path(folder / "venv")));
  EXPECT_THAT(python_prefixes(), Contains(std::filesystem::path(folder / "usr")));
}

}  // namespace
}  // namespace loaderscope::cuda
