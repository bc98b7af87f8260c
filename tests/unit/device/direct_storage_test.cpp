// The way of direct reads into GPU memory, with a library that only pretends.
#include "device/cuda/direct_storage.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "base/fd.h"
#include "loaderscope/errors.h"
#include "unit/source/temp_folder.h"

namespace loaderscope::cuda {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

struct PretendCuFile : CuFile {
  int refuses = 0, opens = 0, adds = 0;
  ssize_t reads = 4096;
  std::vector<std::string> calls;

  int refuse_host_memory() override {
    calls.emplace_back("refuse");
    return refuses;
  }
  int open_driver() override {
    calls.emplace_back("open");
    return opens;
  }
  void close_driver() override { calls.emplace_back("close"); }
  int add_file(int, void*& file) override {
    calls.emplace_back("add");
    if (adds == 0) file = this;
    return adds;
  }
  void remove_file(void*) override { calls.emplace_back("remove"); }
  ssize_t read(void*, void*, std::size_t) override {
    calls.emplace_back("read");
    return reads;
  }
};

class DirectStorage : public testing::Test {
 protected:
  void SetUp() override {
    std::ofstream(path_) << std::string(8192, 'x');
    if (Fd(::open(path_.c_str(), O_RDONLY | O_DIRECT)) < 0) GTEST_SKIP() << "no O_DIRECT here";
  }
  std::string why_not(PretendCuFile cufile) {
    try {
      find_storage_way(cufile, path_, block_, sizeof block_);
    } catch (const RunError& error) {
      return error.what();
    }
    return "";
  }

  const source::TempFolder folder_;
  const std::string path_ = folder_.path() + "/file";
  alignas(4096) std::byte block_[4096];
  PretendCuFile cufile_;
};

TEST_F(DirectStorage, NamesDriverOrKernel) {
  const auto find = [&](const std::filesystem::path& nvidia_fs) {
    return find_storage_way(cufile_, path_, block_, sizeof block_, nvidia_fs);
  };
  EXPECT_EQ(find(folder_.path() + "/none"), StorageWay::peer_to_peer);
  EXPECT_EQ(find(folder_.path()), StorageWay::nvidia_fs);
  cufile_.calls.resize(6);
  EXPECT_THAT(cufile_.calls, ElementsAre("refuse", "open", "add", "read", "remove", "close"));
}

TEST_F(DirectStorage, SaysWhyHostMemoryIsNeeded) {
  PretendCuFile one;
  one.opens = 5001;
  EXPECT_THAT(why_not(one), HasSubstr("memory: the driver nvidia-fs is not loaded"));
  one = {};
  one.adds = 5008;
  EXPECT_THAT(why_not(one), HasSubstr("the file system of this file has none"));
  one = {};
  one.reads = -5999;
  EXPECT_THAT(why_not(one), HasSubstr("cuFileRead fails with error 5999"));
  one = {};
  one.reads = 0;
  EXPECT_THAT(why_not(one), HasSubstr("is empty"));
  EXPECT_THAT(load_cufile({"libnowhere.so.0"}).reason, HasSubstr("libcufile was not found"));
}

TEST_F(DirectStorage, ClosesDriverAfterFailure) {
  cufile_.adds = 5008;
  EXPECT_THROW(find_storage_way(cufile_, path_, block_, sizeof block_), RunError);
  EXPECT_THAT(cufile_.calls, ElementsAre("refuse", "open", "add", "close"));
}

}  // namespace
}  // namespace loaderscope::cuda
