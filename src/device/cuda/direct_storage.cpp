#include "device/cuda/direct_storage.h"

#include <fcntl.h>
#include <fmt/format.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <system_error>
#include <utility>

#include "base/fd.h"
#include "device/cuda/library_search.h"
#include "loaderscope/errors.h"

namespace loaderscope::cuda {
namespace {

// Own declarations of cufile.h 1.17, which earlier versions share.
struct Result {
  int code, cuda;
};
struct Descriptor {
  int type;
  union {
    int fd;
    void* handle;
  };
  const void* operations;
};
constexpr int kFile = 1;             // CU_FILE_HANDLE_TYPE_OPAQUE_FD
constexpr int kAllowHostMemory = 1;  // CUFILE_PARAM_PROPERTIES_ALLOW_COMPAT_MODE
constexpr int kMissing = -1;         // a function of the library
constexpr const char* kLog = "CUFILE_LOGFILE_PATH";

struct Functions {
  Result (*cuFileSetParameterBool)(int, bool) = nullptr;
  Result (*cuFileDriverOpen)() = nullptr;
  Result (*cuFileDriverClose)() = nullptr;
  Result (*cuFileHandleRegister)(void**, Descriptor*) = nullptr;
  void (*cuFileHandleDeregister)(void*) = nullptr;
  ssize_t (*cuFileRead)(void*, void*, std::size_t, off_t, off_t) = nullptr;
};

class LoadedCuFile final : public CuFile {
 public:
  explicit LoadedCuFile(const Functions& functions) : call_(functions) {}

  int refuse_host_memory() override {
    return call_.cuFileSetParameterBool == nullptr
               ? kMissing
               : call_.cuFileSetParameterBool(kAllowHostMemory, false).code;
  }
  int open_driver() override {
    ::setenv(kLog, "/dev/null", 0);  // no cufile.log in the user's folder
    return call_.cuFileDriverOpen().code;
  }
  void close_driver() override { call_.cuFileDriverClose(); }
  int add_file(int fd, void*& file) override {
    Descriptor descriptor{};
    descriptor.type = kFile;
    descriptor.fd = fd;
    return call_.cuFileHandleRegister(&file, &descriptor).code;
  }
  void remove_file(void* file) override { call_.cuFileHandleDeregister(file); }
  ssize_t read(void* file, void* gpu_memory, std::size_t bytes) override {
    return call_.cuFileRead(file, gpu_memory, bytes, 0, 0);
  }

 private:
  Functions call_;
};

std::string describe_code(int code) {
  static constexpr std::pair<int, const char*> kTexts[] = {
      {kMissing, "this version cannot refuse host memory"},
      {5001, "the driver nvidia-fs is not loaded"},
      {5004, "nvidia-fs has another version"},
      {5007, "this platform has no direct reads"},
      {5008, "the file system of this file has none"},
      {5009, "this GPU has none"},
      {5010, "nvidia-fs fails"},
      {5011, "the CUDA driver fails"},
      {5018, "the file is no regular file"},
      {5020, "the file system refuses O_DIRECT"},
      {5025, "permission denied"},
      {5033, "nvidia-fs cannot be set up"},
      {5034, "the configuration of cuFile refuses this file"},
  };
  for (const auto& [known, text] : kTexts)
    if (known == code) return text;
  return "";
}

[[noreturn]] void refuse_direct(const char* call, int code) {
  const std::string text = describe_code(code);
  throw RunError(
      fmt::format("no direct reads into GPU memory: {}",
                  text.empty() ? fmt::format("{} fails with error {}", call, code) : text));
}

void check_code(const char* call, int code) {
  if (code != 0) refuse_direct(call, code);
}

// Closes the driver, and removes the file before that.
struct OpenedDriver {
  CuFile& calls;
  void* file = nullptr;

  ~OpenedDriver() {
    if (file != nullptr) calls.remove_file(file);
    calls.close_driver();
  }
};

}  // namespace

CuFileLibrary load_cufile(const std::vector<std::string>& libraries) {
  for (const std::string& name : libraries) {
    void* const library = open_library(name);
    if (library == nullptr) continue;
    Functions functions;
    const auto find = [&](auto& function, const char* symbol) {
      function = find_function<std::remove_reference_t<decltype(function)>>(library, symbol);
      return function != nullptr;
    };
    find(functions.cuFileSetParameterBool, "cuFileSetParameterBool");
    if (!find(functions.cuFileDriverOpen, "cuFileDriverOpen") ||
        !find(functions.cuFileDriverClose, "cuFileDriverClose") ||
        !find(functions.cuFileHandleRegister, "cuFileHandleRegister") ||
        !find(functions.cuFileHandleDeregister, "cuFileHandleDeregister") ||
        !find(functions.cuFileRead, "cuFileRead"))
      return {nullptr, name + " lacks functions of cuFile"};
    return {std::make_unique<LoadedCuFile>(functions), ""};
  }
  return {nullptr, "libcufile was not found; pip install nvidia-cufile brings it"};
}

CuFileLibrary find_cufile() {
  std::vector<std::string> libraries = {"libcufile.so.0"};
  for (const std::string& toolkit : find_by_prefix("/usr/local", "cuda"))
    libraries.push_back(toolkit + "/lib64/libcufile.so.0");
  for (const std::string& found :
       find_in_packages(python_prefixes(),
                        {"nvidia/cu13/lib/libcufile.so.0", "nvidia/cufile/lib/libcufile.so.0"}))
    libraries.push_back(found);
  return load_cufile(libraries);
}

StorageWay find_storage_way(CuFile& calls, const std::string& path, void* gpu_memory,
                            std::size_t bytes, const std::filesystem::path& nvidia_fs) {
  const Fd file(::open(path.c_str(), O_RDONLY | O_DIRECT | O_CLOEXEC));
  if (file < 0)
    throw RunError(fmt::format("{} cannot be opened with O_DIRECT: {}", path,
                               std::generic_category().message(errno)));
  check_code("cuFileSetParameterBool", calls.refuse_host_memory());
  check_code("cuFileDriverOpen", calls.open_driver());
  OpenedDriver driver{calls};
  check_code("cuFileHandleRegister", calls.add_file(file, driver.file));
  const ssize_t got = calls.read(driver.file, gpu_memory, bytes);
  if (got < 0) refuse_direct("cuFileRead", static_cast<int>(-got));
  if (got == 0) throw RunError(path + " is empty");
  std::error_code none;
  return std::filesystem::exists(nvidia_fs, none) ? StorageWay::nvidia_fs
                                                  : StorageWay::peer_to_peer;
}

}  // namespace loaderscope::cuda
