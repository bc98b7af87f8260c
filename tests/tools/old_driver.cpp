// A CUDA driver that is older than the program's runtime can do with: of CUDA 11.2. It says so, and
// there is nothing else in it.
extern "C" {

__attribute__((visibility("default"))) int cuDriverGetVersion(int* version) {
  *version = 11020;
  return 0;
}

__attribute__((visibility("default"))) int cuInit(unsigned) { return 0; }
}
