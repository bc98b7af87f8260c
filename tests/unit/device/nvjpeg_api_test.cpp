// Our declarations of nvJPEG against a header of NVIDIA, where one is installed.
#include "device/cuda/nvjpeg_api.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <map>
#include <regex>
#include <string>
#include <type_traits>
#include <vector>

#include "device/cuda/library_search.h"

namespace loaderscope::cuda {
namespace {

namespace fs = std::filesystem;

// Type names of the header.
template <class T>
struct HeaderName;
#define HEADER_NAME(type, text)                \
  template <>                                  \
  struct HeaderName<type> {                    \
    static constexpr const char* kText = text; \
  }
HEADER_NAME(int, "int");
HEADER_NAME(unsigned, "unsigned int");
HEADER_NAME(unsigned char, "unsigned char");
HEADER_NAME(std::size_t, "size_t");
HEADER_NAME(nvjpeg::Backend, "nvjpegBackend_t");
HEADER_NAME(nvjpeg::Output, "nvjpegOutputFormat_t");
HEADER_NAME(nvjpeg::Orientation, "nvjpegExifOrientation_t");
HEADER_NAME(nvjpeg::Subsampling, "nvjpegChromaSubsampling_t");
HEADER_NAME(nvjpeg::Encoding, "nvjpegJpegEncoding_t");
HEADER_NAME(nvjpeg::Image, "nvjpegImage_t");
HEADER_NAME(nvjpeg::Allocator, "ALLOCATOR");  // two types of the same shape
HEADER_NAME(nvjpeg::Handle, "nvjpegHandle_t");
HEADER_NAME(nvjpeg::State, "nvjpegJpegState_t");
HEADER_NAME(nvjpeg::Header, "nvjpegJpegStream_t");
HEADER_NAME(nvjpeg::Params, "nvjpegDecodeParams_t");
HEADER_NAME(nvjpeg::CudaStream, "cudaStream_t");
#undef HEADER_NAME

template <class T>
concept Named = requires {
  HeaderName<T>::kText;
};

template <class T>
std::string spell() {
  if constexpr (Named<T>) {
    return HeaderName<T>::kText;
  } else if constexpr (std::is_const_v<T> && std::is_pointer_v<T>) {
    return spell<std::remove_const_t<T>>() + "const";
  } else if constexpr (std::is_const_v<T>) {
    return "const " + spell<std::remove_const_t<T>>();
  } else {
    return spell<std::remove_pointer_t<T>>() + "*";
  }
}

template <class... Parameters>
std::string signature(nvjpeg::Code (*)(Parameters...)) {
  std::string all;
  for (const std::string& one : {spell<Parameters>()...}) all += one + ", ";
  return all;
}

std::string replace(const std::string& text, const char* pattern, const char* other) {
  return std::regex_replace(text, std::regex(pattern), other);
}

// One parameter of the header without its name, spelled as spell() does.
std::string normalise(std::string parameter) {
  parameter = replace(parameter, R"(\s+)", " ");
  parameter = replace(parameter, R"(\w+ ?$)", "");
  parameter = replace(parameter, R"( ?\* ?)", "*");
  parameter = replace(parameter, R"(^ | $)", "");
  parameter = replace(parameter, "nvjpeg(Dev|Pinned)AllocatorV2_t", "ALLOCATOR");
  return replace(parameter, "libraryPropertyType", "int");
}

std::map<std::string, std::string> read_functions(const std::string& header) {
  std::map<std::string, std::string> found;
  const std::regex declaration(R"(nvjpegStatus_t\s+NVJPEGAPI\s+(\w+)\s*\(([^)]*)\))");
  for (std::sregex_iterator at(header.begin(), header.end(), declaration), end; at != end; ++at) {
    const std::string parameters = (*at)[2].str();
    const std::regex comma(",");
    std::string all;
    for (std::sregex_token_iterator one(parameters.begin(), parameters.end(), comma, -1), none;
         one != none; ++one)
      all += normalise(one->str()) + ", ";
    found[(*at)[1].str()] = all;
  }
  return found;
}

std::map<std::string, int> read_constants(const std::string& header) {
  std::map<std::string, int> found;
  const std::regex constant(R"((NVJPEG_\w+)\s*=\s*(-?\w+))");
  for (std::sregex_iterator at(header.begin(), header.end(), constant), end; at != end; ++at)
    found[(*at)[1].str()] = std::stoi((*at)[2].str(), nullptr, 0);
  return found;
}

std::vector<std::string> headers() {
  std::vector<fs::path> prefixes = python_prefixes();
  if (const char* python = std::getenv("LOADERSCOPE_PYTHON"))
    prefixes.push_back(fs::path(python).parent_path().parent_path());
  std::vector<std::string> found = find_in_packages(
      prefixes, {"nvidia/cu13/include/nvjpeg.h", "nvidia/nvjpeg/include/nvjpeg.h"});
  for (const std::string& toolkit : find_by_prefix("/usr/local", "cuda")) {
    const fs::path path = fs::path(toolkit) / "include/nvjpeg.h";
    if (std::error_code none; fs::exists(path, none)) found.push_back(path);
  }
  return found;
}

std::string read_header(const std::string& path) {
  std::ifstream file(path);
  const std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  return replace(text, "//[^\n]*", "");
}

void expect_same_functions(const std::string& header) {
  const std::map<std::string, std::string> functions = read_functions(header);
  ASSERT_GT(functions.size(), 40U);  // the search found the declarations
  const nvjpeg::Functions ours;
#define EXPECT_SAME(name, parameters)              \
  ASSERT_TRUE(functions.contains(#name)) << #name; \
  EXPECT_EQ(functions.at(#name), signature(ours.name)) << #name;
  LOADERSCOPE_NVJPEG_FUNCTIONS(EXPECT_SAME)
#undef EXPECT_SAME
}

void expect_same_constants(const std::string& header) {
  const std::map<std::string, int> constants = read_constants(header);
  const auto expect = [&](const char* name, auto ours) {
    ASSERT_TRUE(constants.contains(name)) << name;
    EXPECT_EQ(constants.at(name), static_cast<int>(ours)) << name;
  };
  using nvjpeg::Code, nvjpeg::Subsampling, nvjpeg::Encoding;
  expect("NVJPEG_STATUS_SUCCESS", Code::success);
  expect("NVJPEG_STATUS_NOT_INITIALIZED", Code::not_initialised);
  expect("NVJPEG_STATUS_INVALID_PARAMETER", Code::invalid_parameter);
  expect("NVJPEG_STATUS_BAD_JPEG", Code::bad_jpeg);
  expect("NVJPEG_STATUS_JPEG_NOT_SUPPORTED", Code::jpeg_not_supported);
  expect("NVJPEG_STATUS_ALLOCATOR_FAILURE", Code::allocator_failure);
  expect("NVJPEG_STATUS_EXECUTION_FAILED", Code::execution_failed);
  expect("NVJPEG_STATUS_ARCH_MISMATCH", Code::arch_mismatch);
  expect("NVJPEG_STATUS_INTERNAL_ERROR", Code::internal_error);
  expect("NVJPEG_STATUS_IMPLEMENTATION_NOT_SUPPORTED", Code::implementation_not_supported);
  expect("NVJPEG_STATUS_INCOMPLETE_BITSTREAM", Code::incomplete_bitstream);
  expect("NVJPEG_BACKEND_GPU_HYBRID", nvjpeg::Backend::gpu_hybrid);
  expect("NVJPEG_BACKEND_HARDWARE", nvjpeg::Backend::hardware);
  expect("NVJPEG_BACKEND_GPU_HYBRID_DEVICE", nvjpeg::Backend::gpu_hybrid_device);
  expect("NVJPEG_BACKEND_HARDWARE_DEVICE", nvjpeg::Backend::hardware_device);
  expect("NVJPEG_OUTPUT_RGBI", nvjpeg::Output::rgb_interleaved);
  expect("NVJPEG_ORIENTATION_NORMAL", nvjpeg::Orientation::normal);
  expect("NVJPEG_CSS_444", Subsampling::s444);
  expect("NVJPEG_CSS_422", Subsampling::s422);
  expect("NVJPEG_CSS_420", Subsampling::s420);
  expect("NVJPEG_CSS_440", Subsampling::s440);
  expect("NVJPEG_CSS_411", Subsampling::s411);
  expect("NVJPEG_CSS_410", Subsampling::s410);
  expect("NVJPEG_CSS_GRAY", Subsampling::grey);
  expect("NVJPEG_CSS_410V", Subsampling::s410v);
  expect("NVJPEG_CSS_UNKNOWN", Subsampling::unknown);
  expect("NVJPEG_ENCODING_UNKNOWN", Encoding::unknown);
  expect("NVJPEG_ENCODING_BASELINE_DCT", Encoding::baseline);
  expect("NVJPEG_ENCODING_EXTENDED_SEQUENTIAL_DCT_HUFFMAN", Encoding::extended);
  expect("NVJPEG_ENCODING_PROGRESSIVE_DCT_HUFFMAN", Encoding::progressive);
  expect("NVJPEG_ENCODING_LOSSLESS_HUFFMAN", Encoding::lossless);
}

void expect_same_structs(const std::string& header) {
  const std::string text = replace(header, R"(\s+)", " ");
  const auto has = [&](const char* pattern) {
    return std::regex_search(text, std::regex(pattern));
  };
  EXPECT_EQ(nvjpeg::kMaxComponents, 4U);
  EXPECT_EQ(nvjpeg::kInterpolatedUpsampling, 1U << 5);
  EXPECT_TRUE(has("define NVJPEG_MAX_COMPONENT 4"));
  EXPECT_TRUE(has("define NVJPEG_FLAGS_UPSAMPLING_WITH_INTERPOLATION 1<<5"));
  EXPECT_TRUE(has(R"(\{ unsigned char \* ?channel\[NVJPEG_MAX_COMPONENT\]; )"
                  R"(size_t pitch\[NVJPEG_MAX_COMPONENT\]; \} nvjpegImage_t)"));
  for (const std::string kind : {"Dev", "Pinned"}) {
    EXPECT_TRUE(has(("int \\(\\*t" + kind +
                     "MallocV2\\)\\(void\\* ctx, void \\*\\*ptr, size_t size, cudaStream_t")
                        .c_str()));
    EXPECT_TRUE(has(
        ("int \\(\\*t" + kind + "FreeV2\\)\\(void\\* ctx, void \\*ptr, size_t size, cudaStream_t")
            .c_str()));
    const std::string functions = "t" + kind + "MallocV2 \\w+; t" + kind + "FreeV2 \\w+";
    EXPECT_TRUE(
        has(("\\{ " + functions + "; void \\*\\w+; \\} nvjpeg" + kind + "AllocatorV2_t").c_str()));
  }
}

TEST(NvjpegApi, EqualsInstalledHeaders) {
  const std::vector<std::string> found = headers();
  if (found.empty()) GTEST_SKIP() << "no nvjpeg.h: pip install nvidia-nvjpeg brings one";
  for (const std::string& path : found) {
    SCOPED_TRACE(path);
    const std::string header = read_header(path);
    expect_same_functions(header);
    expect_same_constants(header);
    expect_same_structs(header);
  }
}

}  // namespace
}  // namespace loaderscope::cuda
