// Wrote the seeds in corpus/image_*, which are in the repository; not part of the build. To write
// them again:
//   g++ -std=c++20 -Itests tests/fuzz/image_seeds.cpp -o /tmp/image_seeds -ljpeg -lwebp -lz
//   /tmp/image_seeds tests/fuzz/corpus
#include <filesystem>
#include <fstream>
#include <string>

#include "unit/decode/made_jpeg.h"
#include "unit/decode/made_png.h"
#include "unit/decode/made_webp.h"

namespace made = loaderscope::made;

namespace {

// The last five bytes choose the region and the options; see image_fuzz.h.
void write(const std::filesystem::path& path, const made::ByteVector& stored) {
  std::filesystem::create_directories(path.parent_path());
  std::ofstream out(path, std::ios::binary);
  out.write(reinterpret_cast<const char*>(stored.data()),
            static_cast<std::streamsize>(stored.size()));
  out.write("\x40\x50\x60\x70\x00", 5);
}

void write_jpeg(const std::filesystem::path& folder) {
  const made::Image small = made::photograph(50, 37, 1);
  const auto add = [&](const char* name, made::JpegWish wish, const made::Image& image) {
    wish.quality = 40;
    write(folder / name, made::encode_jpeg(image, wish));
  };
  add("420", {}, small);
  add("422", {.horizontal = 2, .vertical = 1}, small);
  add("440", {.horizontal = 1, .vertical = 2}, small);
  add("411", {.horizontal = 4, .vertical = 1}, small);
  add("444", {.horizontal = 1, .vertical = 1}, small);
  add("progressive", {.progressive = true}, small);
  add("unrefined", {.progressive = true, .scans = 4}, small);
  add("arithmetic", {.arithmetic = true}, small);
  add("restart", {.restart_rows = 1}, small);
  add("grey", {}, made::photograph(50, 37, 1, 1.0, 1));
  add("two_scans", {.horizontal = 1, .vertical = 1, .two_scans = true},
      made::photograph(50, 37, 1, 1.0, 1));
  add("inks", {.horizontal = 1, .vertical = 1, .stored_as = JCS_YCCK},
      made::photograph(20, 17, 1, 1.0, 4));
}

void write_png(const std::filesystem::path& folder) {
  const made::Image small = made::photograph(19, 13, 1, 0.1);
  for (const unsigned colour_type : {0U, 2U, 3U, 4U, 6U}) {
    for (const unsigned depth : {1U, 4U, 8U, 16U}) {
      if (depth < 8 && colour_type != 0 && colour_type != 3) continue;
      if (depth == 16 && colour_type == 3) continue;
      const std::string name =
          "type" + std::to_string(colour_type) + "_depth" + std::to_string(depth);
      write(folder / name, made::encode_png(small, {colour_type, depth, depth != 8}).stored);
    }
  }
}

void write_webp(const std::filesystem::path& folder) {
  write(folder / "lossy", made::encode_webp(made::photograph(50, 37, 1), false));
  write(folder / "lossless", made::encode_webp(made::photograph(19, 13, 1, 0.1), true));
  write(folder / "animated", made::animated_webp());
}

}  // namespace

int main(int, char** argv) {
  const std::filesystem::path corpus = argv[1];
  write_jpeg(corpus / "image_jpeg");
  write_png(corpus / "image_png");
  write_webp(corpus / "image_webp");
}
