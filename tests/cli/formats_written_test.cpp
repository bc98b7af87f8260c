// Between `data pack` and the libraries whose formats these are: what either has written, the
// other reads.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "cli/run_binary.h"
#include "cli/run_script.h"
#include "unit/source/temp_folder.h"

namespace loaderscope::testing_cli {
namespace {

// First lines of the programs below. The images are sorted by path.
constexpr const char* kBegin = R"(
import io, pathlib, sys, tarfile
photos, kind, folder = pathlib.Path(sys.argv[1]), sys.argv[2], pathlib.Path(sys.argv[3])
images = sorted(p for p in photos.rglob("*.jpg"))
classes = sorted({p.parent.name for p in images})
wanted = [(p.read_bytes(), classes.index(p.parent.name)) for p in images]
)";

// Prints how many samples are the images, with their classes.
constexpr const char* kReader = R"(
rows = []
for shard in sorted(p for p in folder.glob("shard-*")):
    if kind == "parquet":
        from pyarrow import parquet
        rows += [(r["image"]["bytes"], r["label"]) for r in parquet.read_table(shard).to_pylist()]
    elif kind == "hdf5":  # as decoded for the other array
        import h5py, numpy
        pixels = numpy.load(next(pathlib.Path(sys.argv[4]).glob("*.npy")))
        with h5py.File(shard) as file:
            same = (file["images"][:] == pixels).all(axis=(1, 2, 3))
            rows += [(b if s else b"", c) for (b, _), s, c in zip(wanted, same, file["labels"])]
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
print(sum(a == b for a, b in zip(rows, wanted)), len(rows))
)";

// Writes the images; prints how many samples of the tar or array made of that are these.
constexpr const char* kWriter = R"(
if kind == "arrow":
    import pyarrow
    from pyarrow import feather
    names = pyarrow.array([classes[c] for _, c in wanted]).dictionary_encode()
    table = pyarrow.table({"image": pyarrow.array([b for b, _ in wanted], pyarrow.binary_view()),
                           "label": names})
    feather.write_feather(table, folder / "a.arrow", compression="uncompressed", chunksize=7)
elif kind == "parquet":
    import pyarrow
    from pyarrow import parquet
    image = pyarrow.struct([("bytes", pyarrow.binary()), ("path", pyarrow.string())])
    rows = [{"bytes": b, "path": None} for b, _ in wanted]
    table = pyarrow.table({"image": pyarrow.array(rows, image), "label": [c for _, c in wanted]})
    parquet.write_table(table, folder / "a.parquet", row_group_size=7)
elif kind == "hdf5":
    import h5py, numpy
    from PIL import Image
    with h5py.File(folder / "a.h5", "w") as file:
        file["images"] = numpy.stack([Image.open(io.BytesIO(b)) for b, _ in wanted])
        file["labels"] = [c for _, c in wanted]
else:
    import lmdb
    with lmdb.open(str(folder / "a.lmdb"), subdir=False, map_size=1 << 24) as file:
        with file.begin(write=True) as writing:
            for i, (b, _) in enumerate(wanted):
                writing.put(b"%08d" % i, b)
)";

constexpr const char* kCompare = R"(
shards = sorted(folder.glob("out/*.tar"))
members = [(t, m) for t in map(tarfile.open, shards) for m in t if m.name.endswith(".jpg")]
rows = [t.extractfile(m).read() for t, m in members]
print(sum(a == b for a, (b, _) in zip(rows, wanted)), len(rows))
)";

struct Library {
  const char *format, *module, *file;
};

class LibraryFormats : public ::testing::TestWithParam<Library> {
 protected:
  void SetUp() override {
    const auto [format, module, file] = GetParam();
    if (python_.empty() ||
        run_program(python_, {"-c", std::string("import ") + module}).exit_code != 0)
      GTEST_SKIP() << "no Python with " << module << ": scripts/python-env formats makes one";
    ASSERT_EQ(
        run_binary({"data", "make", photos_, "--count", "30", "--size", "64x48", "--classes", "3"})
            .exit_code,
        0);
  }
  Ended run_python(const std::string& code, const std::string& folder,
                   const std::string& other = "") const {
    return run_program(python_, {"-c", kBegin + code, photos_, GetParam().format, folder, other});
  }
  void pack(const std::string& from, const std::string& to) const {
    const Ended packed = run_binary({"data", "pack", from, to, "--in-order"});
    ASSERT_EQ(packed.exit_code, 0) << packed.err;
  }
  bool is_of_pixels() const { return std::string(GetParam().format) == "hdf5"; }

  const std::string python_ = formats_python();
  const source::TempFolder folder_;
  const std::string photos_ = folder_ / "photos";
};

class WrittenFormats : public LibraryFormats {};

TEST_P(WrittenFormats, WritesFilesThatTheirLibrariesRead) {
  const std::string format = GetParam().format;
  const std::string packed = folder_ / "packed", pixels = folder_ / "pixels";
  pack(photos_, format + ":" + packed);
  if (is_of_pixels()) pack(photos_, "npy:" + pixels);
  const Ended read = run_python(kReader, packed, pixels);
  EXPECT_EQ(read.out, "30 30\n") << read.err;
}

TEST_P(LibraryFormats, ReadsFilesThatLibrariesWrite) {
  const auto [format, module, name] = GetParam();
  const std::string written = folder_ / "written";
  std::filesystem::create_directory(written);
  const Ended wrote = run_python(kWriter, written);
  ASSERT_EQ(wrote.exit_code, 0) << wrote.err;
  const std::string source = std::string(format) + ":" + written + "/" + name;
  if (is_of_pixels()) {
    const Ended run =
        run_binary({"run", "--data", source + "?dataset=images", "--batch-size", "5", "--epochs",
                    "1", "--warmup", "0", "--device", "null", "--verbose"});
    EXPECT_EQ(run.exit_code, 0) << run.err;
    return;
  }
  pack(source, "tar:" + written + "/out");
  const Ended compared = run_python(kCompare, written);
  EXPECT_EQ(compared.out, "30 30\n") << compared.err;
}

constexpr Library kParquet{"parquet", "pyarrow", "a.parquet"},
    kArrow{"arrow", "pyarrow", "a.arrow"}, kLmdb{"lmdb", "lmdb", "a.lmdb"},
    kHdf5{"hdf5", "h5py", "a.h5"};
const auto format_name = [](const auto& row) { return std::string(row.param.format); };
INSTANTIATE_TEST_SUITE_P(Formats, LibraryFormats, ::testing::Values(kParquet, kArrow, kLmdb, kHdf5),
                         format_name);
INSTANTIATE_TEST_SUITE_P(Formats, WrittenFormats, ::testing::Values(kParquet, kLmdb, kHdf5),
                         format_name);

}  // namespace
}  // namespace loaderscope::testing_cli
