// What `data pack` has written, read by the libraries whose formats these are.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "cli/run_binary.h"
#include "cli/torch_python.h"
#include "unit/source/temp_folder.h"

namespace loaderscope::testing_cli {
namespace {

// Prints how many samples are the images of the folder, in their order, with their classes.
constexpr const char* kReader = R"(
import pathlib, sys
photos, kind, folder = pathlib.Path(sys.argv[1]), sys.argv[2], pathlib.Path(sys.argv[3])
images = sorted(p for p in photos.rglob("*.jpg"))
classes = sorted({p.parent.name for p in images})
rows = []
for shard in sorted(p for p in folder.glob("shard-*")):
    if kind == "parquet":
        from pyarrow import parquet
        rows += [(r["image"]["bytes"], r["label"]) for r in parquet.read_table(shard).to_pylist()]
    else:
        import lmdb
        with lmdb.open(str(shard), subdir=False, readonly=True, lock=False).begin() as reading:
            for key, value in reading.cursor():  # a Datum: data (4), label (5), encoded (7)
                size = at = 0
                for shift in range(0, 35, 7):
                    at += 1
                    size |= (value[at] & 0x7f) << shift
                    if value[at] < 0x80: break
                rows.append((value[at + 1:at + 1 + size], value[at + 2 + size]))
wanted = [(p.read_bytes(), classes.index(p.parent.name)) for p in images]
print(sum(a == b for a, b in zip(rows, wanted)), len(rows))
)";

class WrittenFormats : public ::testing::TestWithParam<std::pair<const char*, const char*>> {};

TEST_P(WrittenFormats, AreReadByTheirLibraries) {
  const auto [format, module] = GetParam();
  if (!torch_python_has(module))
    GTEST_SKIP() << "no Python with " << module
                 << ": scripts/python-env makes one, or name one in "
                    "LOADERSCOPE_PYTHON";
  const source::TempFolder folder;
  const std::string photos = folder / "photos", packed = folder / "packed";
  ASSERT_EQ(
      run_binary({"data", "make", photos, "--count", "30", "--size", "64x48", "--classes", "3"})
          .exit_code,
      0);
  const Ended written =
      run_binary({"data", "pack", photos, std::string(format) + ":" + packed, "--in-order"});
  ASSERT_EQ(written.exit_code, 0) << written.err;
  const Ended read = run_program(torch_python(), {"-c", kReader, photos, format, packed});
  EXPECT_EQ(read.out, "30 30\n") << read.err;
}

INSTANTIATE_TEST_SUITE_P(Formats, WrittenFormats,
                         ::testing::Values(std::pair{"parquet", "pyarrow"},
                                           std::pair{"lmdb", "lmdb"}),
                         [](const auto& format) { return std::string(format.param.first); });

}  // namespace
}  // namespace loaderscope::testing_cli
